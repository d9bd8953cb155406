import { bestCorrelation, correlateAtLags, pearson } from './lagged-correlation';
import { recordingOf } from './speech/recording';
import { speechEnvelope } from './speech-envelope';

describe('pearson', () => {
  it('is 1 for a scaled and shifted copy, -1 for a mirrored one, 0 for a constant', () => {
    const series = [1, 5, 2, 8, 3];
    expect(
      pearson(
        series,
        series.map((x) => 3 * x - 7),
      ),
    ).toBeCloseTo(1, 12);
    expect(
      pearson(
        series,
        series.map((x) => -x),
      ),
    ).toBeCloseTo(-1, 12);
    expect(pearson(series, [4, 4, 4, 4, 4])).toBe(0);
  });
});

describe('correlateAtLags', () => {
  const leader = Array.from({ length: 60 }, (_, i) => Math.sin(i * 1.7) + Math.sin(i * 0.37));

  it('finds the delay of a delayed copy', () => {
    const follower = leader.map((_, i) => leader[i - 3] ?? 0);
    expect(bestCorrelation(correlateAtLags(leader, follower, 12))).toEqual({
      lagFrames: 3,
      pearson: expect.closeTo(1, 9) as number,
    });
  });

  it('ignores unmeasured frames instead of counting them as closed mouths', () => {
    const follower = leader.map((value, i) => (i % 5 === 0 ? null : value));
    expect(bestCorrelation(correlateAtLags(leader, follower, 2)).pearson).toBeCloseTo(1, 12);
  });

  it('counts a mouth that is closed as measured', () => {
    const voice = leader.map((value) => (value > 0 ? 1 : 0));
    expect(bestCorrelation(correlateAtLags(voice, voice, 0)).pearson).toBeCloseTo(1, 12);
  });
});

describe('speechEnvelope', () => {
  it('is the RMS of a steady tone and 0 in silence', () => {
    const pcm = Float32Array.from({ length: 16_000 }, (_, i) => (i < 8_000 ? 0.5 * Math.sin(i) : 0));
    const envelope = speechEnvelope(recordingOf(pcm), { sampleRate: 16_000, fps: 25, frames: 25 });
    expect(envelope[5]).toBeCloseTo(0.5 / Math.SQRT2, 2);
    expect(envelope[20]).toBe(0);
  });

  it('depends only on the surroundings of each frame, however long the recording', () => {
    const pcm = Float32Array.from({ length: 21 * 16_000 }, (_, i) => Math.sin(i * i * 1e-6));
    const window = { sampleRate: 16_000, fps: 25 };
    const whole = speechEnvelope(recordingOf(pcm), { ...window, frames: 530 });
    for (const frame of [225, 250, 475, 500]) {
      // The frame before includes a little of what is cut off here.
      const rest = recordingOf(pcm.subarray((frame - 1) * 640));
      expect(speechEnvelope(rest, { ...window, frames: 26 }).slice(1)).toEqual(
        whole.slice(frame, frame + 25),
      );
    }
  });
});
