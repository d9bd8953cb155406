import { compare } from './compare';
import { profileOf } from './test/profile';

const render = (atSeconds: number, serviceSeconds: number, waitSeconds: number) => ({
  at_seconds: atSeconds,
  customer: 'one',
  engine: 'musetalk',
  output_seconds: 4,
  analysed_seconds: 0,
  ingests: [{ media_seconds: 4, wait_seconds: 0, service_seconds: 1 }],
  wait_seconds: waitSeconds,
  service_seconds: serviceSeconds,
  end_to_end_seconds: 1 + waitSeconds + serviceSeconds,
});
const exact = {
  fixed_seconds: 6,
  seconds_per_media_second: 1,
  analysis_seconds_per_video_second: 0,
  scatter: 0,
};

describe('compare', () => {
  // One slot, ten seconds per job after an ingest of one second: the expected result is known.
  const profile = profileOf({
    media: { ...exact, fixed_seconds: 1, seconds_per_media_second: 0 },
    engines: { musetalk: exact },
    renders: [render(0, 10, 0), render(5, 10, 5), render(10, 10, 10)],
  });

  it('predicts the waits of a run that followed the policy exactly, from its times and from its model', () => {
    const { renders, measured, replayed, shuffled, modeled } = compare(profile);
    expect(renders).toBe(3);
    expect(measured.wait).toEqual({ mean: 5, p50: 5, p90: 10, p95: 10 });
    expect(measured.end_to_end).toEqual({ mean: 16, p50: 16, p90: 21, p95: 21 });
    expect(measured.completed_at_last_arrival).toBe(0);
    expect(measured.completed_per_hour).toBeCloseTo((3 / 31) * 3600, 6);
    expect(measured.utilization).toBeCloseTo(30 / 31, 6);
    expect(replayed).toEqual(measured);
    // The means over many seeds.
    const nearly = {
      ...measured,
      completed_per_hour: expect.closeTo(measured.completed_per_hour, 6) as number,
      utilization: expect.closeTo(measured.utilization, 6) as number,
    };
    expect(shuffled).toEqual(nearly);
    expect(modeled).toEqual(nearly);
  });

  it('distinguishes slow jobs that came together from slow jobs', () => {
    // Two renders that took twice as long as the rest come together, so their successors wait; apart they would not.
    const times = [20, 20, ...Array.from({ length: 18 }, () => 10)];
    const renders = times.map((seconds, i) => render(i * 15, seconds, 0));
    const { replayed, shuffled } = compare({ ...profile, renders });
    expect(replayed.wait.mean).toBeGreaterThan(1.3 * shuffled.wait.mean);
    expect(replayed.utilization).toBeCloseTo(shuffled.utilization, 1);
  });
});
