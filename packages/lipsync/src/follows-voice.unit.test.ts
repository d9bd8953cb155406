import { followsVoice } from './follows-voice';
import { fillNoise } from './noise';

const FRAMES = 75;
const series = (valueAt: (frame: number) => number): number[] =>
  Array.from({ length: FRAMES }, (_, i) => valueAt(i));
/** Syllables of changing length and loudness. */
const voice = series((i) => 0.1 * Math.max(0, Math.sin(i * 0.9) + Math.sin(i * 0.37)));
const talking = voice.map((_, i) => 0.02 + 2 * (voice[i - 2] ?? 0));
/** Normally distributed, the same in every run. */
const noise = (seed: number): number[] => {
  const values = new Float32Array(FRAMES);
  fillNoise(values, seed);
  return [...values];
};

test('a mouth that follows the voice has a correlation and the lag at which it is best', () => {
  const { pearson, lagFrames, faceFrames } = followsVoice(voice, talking);
  expect(pearson).toBeCloseTo(1, 6);
  expect([lagFrames, faceFrames]).toEqual([2, FRAMES]);
});

test.each([
  ['silence', series(() => 0)],
  ['a hum', series(() => 0.05)],
  ['room tone', noise(1).map((value) => 0.002 * (1 + 0.05 * value))],
])('%s is no voice to follow: neither a correlation nor a lag', (_, envelope) => {
  expect(followsVoice(envelope, talking)).toEqual({ pearson: null, lagFrames: null, faceFrames: FRAMES });
});

test.each([
  ['closed', series(() => 0)],
  ['held open', series(() => 0.1)],
  ['still but for the noise of its landmarks', noise(2).map((value) => 0.1 + 0.001 * value)],
])('a mouth that is %s while somebody speaks does not follow at all, at no lag', (_, openings) => {
  expect(followsVoice(voice, openings)).toEqual({ pearson: 0, lagFrames: null, faceFrames: FRAMES });
});

test('a mouth that moves on its own has a low correlation, and no lag', () => {
  const babble = noise(3).map((value) => 0.2 + 0.05 * value);
  const { pearson, lagFrames } = followsVoice(voice, babble);
  expect(pearson).toBeLessThan(0.4);
  expect(lagFrames).toBeNull();
});

test('frames without a measured mouth are left out', () => {
  const seen = talking.map((opening, i) => (i % 3 === 0 ? null : opening));
  expect(followsVoice(voice, seen)).toMatchObject({ lagFrames: 2, faceFrames: 50 });
});
