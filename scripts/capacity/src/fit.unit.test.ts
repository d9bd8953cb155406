import { createRandom } from './distributions';
import { fitModel, pickupSeconds } from './fit';
import { modelSeconds } from './profile';

const truth = {
  fixed_seconds: 1.5,
  seconds_per_media_second: 0.8,
  analysis_seconds_per_video_second: 0.3,
  scatter: 0,
};

describe('fitModel', () => {
  it('finds the model that made the observations', () => {
    const observations = [2, 5, 9].flatMap((mediaSeconds) =>
      [0, 6].map((analyzedSeconds) => ({
        mediaSeconds,
        analyzedSeconds,
        serviceSeconds: modelSeconds(truth, mediaSeconds, analyzedSeconds),
      })),
    );
    const model = fitModel(observations);
    for (const [part, value] of Object.entries(truth))
      expect(model[part as keyof typeof truth]).toBeCloseTo(value, 6);
  });

  it('reports how much single jobs scatter around it', () => {
    const random = createRandom(6);
    const observations = Array.from({ length: 2000 }, (_, index) => {
      const mediaSeconds = 1 + (index % 10);
      const serviceSeconds = modelSeconds(truth, mediaSeconds) * random.gamma(1, 0.2);
      return { mediaSeconds, analyzedSeconds: 0, serviceSeconds };
    });
    expect(fitModel(observations).scatter).toBeCloseTo(0.2, 1);
  });

  it('attributes everything to the fixed part when all media are equally long, and leaves out negative parts', () => {
    const same = [4, 5, 6].map((serviceSeconds) => ({ mediaSeconds: 3, analyzedSeconds: 0, serviceSeconds }));
    expect(fitModel(same)).toMatchObject({ fixed_seconds: 5, seconds_per_media_second: 0 });
    const steep = [1, 2, 3].map((mediaSeconds) => ({
      mediaSeconds,
      analyzedSeconds: 0,
      serviceSeconds: 2 * mediaSeconds - 1,
    }));
    const model = fitModel(steep);
    expect(model.fixed_seconds).toBe(0);
    expect(model.seconds_per_media_second).toBeGreaterThan(1);
  });
});

const render = (available: number, claimed: number, ended: number) => ({
  customer: 'one',
  engine: 'musetalk',
  output_seconds: 4,
  analysed_seconds: 0,
  ingests: [],
  at_seconds: available,
  wait_seconds: claimed - available,
  service_seconds: ended - claimed,
  end_to_end_seconds: ended - available,
});

describe('pickupSeconds', () => {
  it('is the time between an idle slot and a startable job, whichever came last', () => {
    // Alone: 0.2 s after it became available. Behind others: 0.2 s after the previous one had ended.
    const renders = [render(0, 0.2, 10), render(5, 10.2, 20), render(6, 20.2, 30), render(100, 100.2, 110)];
    expect(pickupSeconds(renders)).toBeCloseTo(0.2, 9);
    expect(pickupSeconds([...renders].reverse())).toBeCloseTo(0.2, 9);
  });

  it('does not become negative because of slightly different clocks', () => {
    expect(pickupSeconds([render(0, 0, 10), render(1, 9.99, 20)])).toBe(0);
  });
});
