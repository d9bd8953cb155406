import { fillNoise } from './diffusion/noise';
import { FEWEST_MOUTHS, followsVoice } from './follows-voice';
import { mean } from './spread';

const FRAMES = 120;
/** The range of lags that the service searches. */
const MAX_LAG = 4;
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
  const { pearson, lagFrames, faceFrames } = followsVoice(voice, talking, MAX_LAG);
  expect(pearson).toBeCloseTo(1, 6);
  expect([lagFrames, faceFrames]).toEqual([2, FRAMES]);
});

test.each([
  ['silence', series(() => 0)],
  ['a hum', series(() => 0.05)],
  ['room tone', noise(1).map((value) => 0.002 * (1 + 0.05 * value))],
])('%s is not a voice to follow: neither a correlation nor a lag', (_, envelope) => {
  expect(followsVoice(envelope, talking, MAX_LAG)).toEqual({
    ...{ pearson: null, lagFrames: null, faceFrames: FRAMES },
  });
});

test.each([
  ['closed', series(() => 0)],
  ['held open', series(() => 0.1)],
  ['still but for the noise of its landmarks', noise(2).map((value) => 0.1 + 0.001 * value)],
])('a mouth that is %s during speech does not follow at all, at no lag', (_, openings) => {
  expect(followsVoice(voice, openings, MAX_LAG)).toEqual({
    ...{ pearson: 0, lagFrames: null, faceFrames: FRAMES },
  });
});

test('a mouth that moves independently has a low correlation, and no lag', () => {
  const babble = noise(3).map((value) => 0.2 + 0.05 * value);
  const { pearson, lagFrames } = followsVoice(voice, babble, MAX_LAG);
  expect(pearson).toBeLessThan(0.4);
  expect(lagFrames).toBeNull();
});

test('frames without a measured mouth are ignored', () => {
  const seen = talking.map((opening, i) => (i % 3 === 0 ? null : opening));
  expect(followsVoice(voice, seen, MAX_LAG)).toMatchObject({ lagFrames: 2, faceFrames: 80 });
});

test('too few mouths are not judged at all', () => {
  const few = (mouths: number) => talking.map((opening, i) => (i < mouths ? opening : null));
  const judged = (mouths: number) => followsVoice(voice, few(mouths), MAX_LAG);
  expect(judged(FEWEST_MOUTHS).lagFrames).toBe(2);
  const unjudged = { pearson: null, lagFrames: null, faceFrames: FEWEST_MOUTHS - 1 };
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
  const passing = found.filter(({ lagFrames }) => lagFrames !== null);
  expect(passing.length).toBeLessThan(DRAWS / 10);
  expect(mean(found.map(({ pearson }) => pearson ?? NaN))).toBeLessThan(0.25);
});
