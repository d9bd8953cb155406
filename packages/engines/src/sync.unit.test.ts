import { constantClock } from '@lipsync/domain';
import { fillNoise } from './diffusion/noise';
import { recordingOf } from './speech/log-mel';
import { FEWEST_MOUTHS, followsVoice, mean, mouthOpening, shownFrames, speechEnvelope } from './sync';
import { schematicFace } from './test/painted-landmarks';

describe('follows voice', () => {
  const FRAMES = 120;
  /** The range of lags that the service searches. */
  const MAX_LAG = 0.16;
  const series = (valueAt: (frame: number) => number): number[] =>
    Array.from({ length: FRAMES }, (_, i) => valueAt(i));
  /** Syllables of changing length and loudness. */
  const voice = series((i) => 0.1 * Math.max(0, Math.sin(i * 0.9) + Math.sin(i * 0.37)));
  const talking = voice.map((_, i) => 0.02 + 2 * (voice[i - 2] ?? 0));
  /** Normally distributed, the same in every run. */
  const noise = (seed: number, frames = FRAMES, stream = 0): number[] => {
    const values = new Float32Array(frames);
    fillNoise(values, seed, stream);
    return [...values];
  };

  test('gives a correlation, and the lag at which it is best, for a mouth that follows the voice', () => {
    const { pearson, lagSeconds, faceSeconds } = followsVoice(voice, talking, MAX_LAG);
    expect(pearson).toBeCloseTo(1, 6);
    expect([lagSeconds, faceSeconds]).toEqual([0.08, FRAMES / 25]);
  });

  test.each([
    ['silence', series(() => 0)],
    ['a hum', series(() => 0.05)],
    ['room tone', noise(1).map((value) => 0.002 * (1 + 0.05 * value))],
  ])('%s is not a voice to follow: neither a correlation nor a lag', (_, envelope) => {
    expect(followsVoice(envelope, talking, MAX_LAG)).toEqual({
      pearson: null,
      lagSeconds: null,
      faceSeconds: FRAMES / 25,
    });
  });

  test.each([
    ['closed', series(() => 0)],
    ['held open', series(() => 0.1)],
    ['still but for the noise of its landmarks', noise(2).map((value) => 0.1 + 0.001 * value)],
  ])('a mouth that is %s during speech does not follow at all, at no lag', (_, openings) => {
    expect(followsVoice(voice, openings, MAX_LAG)).toEqual({
      pearson: 0,
      lagSeconds: null,
      faceSeconds: FRAMES / 25,
    });
  });

  test('a mouth that moves independently has a low correlation, and no lag', () => {
    const babble = noise(3).map((value) => 0.2 + 0.05 * value);
    const { pearson, lagSeconds } = followsVoice(voice, babble, MAX_LAG);
    expect(pearson).toBeLessThan(0.4);
    expect(lagSeconds).toBeNull();
  });

  test('frames without a measured mouth are ignored', () => {
    const seen = talking.map((opening, i) => (i % 3 === 0 ? null : opening));
    expect(followsVoice(voice, seen, MAX_LAG)).toMatchObject({ lagSeconds: 0.08, faceSeconds: 3.2 });
  });

  test('too few mouths are not judged at all', () => {
    const few = (mouths: number) => talking.map((opening, i) => (i < mouths ? opening : null));
    const judged = (mouths: number) => followsVoice(voice, few(mouths), MAX_LAG);
    expect(judged(FEWEST_MOUTHS).lagSeconds).toBe(0.08);
    const unjudged = { pearson: null, lagSeconds: null, faceSeconds: (FEWEST_MOUTHS - 1) / 25 };
    expect(judged(FEWEST_MOUTHS - 1)).toEqual(unjudged);
  });

  test('nine of ten mouths that move like speech but follow nothing stay below 0.4 in the shortest clip that is judged', () => {
    const DRAWS = 500;
    /** As smooth as speech: a frame correlates with those within a syllable's 160 ms. */
    const babble = (stream: number): number[] => {
      const values = noise(7, FEWEST_MOUTHS + 3, stream);
      return Array.from({ length: FEWEST_MOUTHS }, (_, i) => mean(values.slice(i, i + 4)));
    };
    const found = Array.from({ length: DRAWS }, (_, draw) =>
      followsVoice(babble(2 * draw), babble(2 * draw + 1), MAX_LAG),
    );
    const passing = found.filter(({ lagSeconds }) => lagSeconds !== null);
    expect(passing.length).toBeLessThan(DRAWS / 10);
    expect(mean(found.map(({ pearson }) => pearson ?? NaN))).toBeLessThan(0.25);
  });
});

test('of each step of 40 ms the frame in its middle counts, whatever the rate', () => {
  const at = (num: number, den: number, frames: number): number[] =>
    shownFrames(constantClock({ num, den }, frames));
  const one = Array.from({ length: 1000 }, (_, frame) => frame);
  expect(at(25, 1, 1000)).toEqual(one);
  expect(at(50, 1, 8)).toEqual([1, 3, 5, 7]);
  expect(at(60, 1, 12)).toEqual([1, 3, 6, 8, 10]);
  expect(at(12, 1, 3)).toEqual([0, 0, 1, 1, 2, 2]);
  expect(shownFrames({ timescale: 1000, ticks: Uint32Array.of(0, 15, 100, 130) })).toEqual([1, 1, 2]);
});

describe('mouth opening', () => {
  function rotated(landmarks: Float32Array, degrees: number, scale: number): Float32Array {
    const [c, s] = [Math.cos((degrees * Math.PI) / 180) * scale, Math.sin((degrees * Math.PI) / 180) * scale];
    return landmarks.map((_, i) => {
      const x = landmarks[i & ~1] ?? 0;
      const y = landmarks[i | 1] ?? 0;
      return i % 2 === 0 ? c * x - s * y : s * x + c * y;
    });
  }

  describe('mouthOpening', () => {
    test('is the inner-lip gap in eye distances: 0 when closed, growing with the gap', () => {
      expect(mouthOpening(schematicFace(0))).toBe(0);
      expect(mouthOpening(schematicFace(30))).toBeCloseTo(0.3, 5);
    });

    test('does not change with tilt or size', () => {
      for (const degrees of [-40, 15, 90])
        expect(mouthOpening(rotated(schematicFace(20), degrees, 2.5))).toBeCloseTo(0.2, 5);
    });

    test('is closed rather than infinite for a degenerate face', () => {
      expect(mouthOpening(new Float32Array(136))).toBe(0);
    });
  });
});

describe('speechEnvelope', () => {
  it('is the RMS of a steady tone and 0 in silence', () => {
    const pcm = Float32Array.from({ length: 16_000 }, (_, i) => (i < 8_000 ? 0.5 * Math.sin(i) : 0));
    const envelope = speechEnvelope(recordingOf(pcm), 25);
    expect(envelope[5]).toBeCloseTo(0.5 / Math.SQRT2, 2);
    expect(envelope[20]).toBe(0);
  });

  it('depends only on the surroundings of each frame, however long the recording', () => {
    const pcm = Float32Array.from({ length: 21 * 16_000 }, (_, i) => Math.sin(i * i * 1e-6));
    const whole = speechEnvelope(recordingOf(pcm), 530);
    for (const frame of [225, 250, 475, 500]) {
      // The frame before includes a little of what is cut off here.
      const rest = recordingOf(pcm.subarray((frame - 1) * 640));
      expect(speechEnvelope(rest, 26).slice(1)).toEqual(whole.slice(frame, frame + 25));
    }
  });
});
