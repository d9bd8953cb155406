/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { logMel, melSlice, recordingOf, SAMPLE_RATE, segmentLogMel } from '../speech/log-mel';
import { audioEncoderModel, CUE_STATE, CUES, STATES, STEPS, WIDTH } from './speech';

let session: InferenceSession;
beforeAll(async () => {
  session = await InferenceSession.create(audioEncoderModel());
});
afterAll(() => session.release());

/** The states as the musetalk engine computes them from a recording. */
const statesOf = (audio: Float32Array) => heard(segmentLogMel(recordingOf(audio), 0));
/**
 * The states as the other two engines compute them: one spectrogram of everything, padded with zeros, which are not
 * silence.
 */
const sliceStatesOf = (audio: Float32Array) => heard(melSlice(logMel(recordingOf(audio)), 0));

async function heard(spectrogram: Float32Array): Promise<Float32Array> {
  const { states } = await session.run({ mel: new Tensor('float32', spectrogram, [1, 80, 3000]) });
  expect(states?.dims).toEqual([1, STEPS, STATES, WIDTH]);
  if (!(states?.data instanceof Float32Array)) throw new TypeError('float32 states expected');
  return states.data;
}

const cue = (states: Float32Array, name: (typeof CUES)[number], second: number): number =>
  states[(Math.round(second * 50) * STATES + CUE_STATE) * WIDTH + CUES.indexOf(name)] ?? NaN;

/** A 130 Hz buzz through resonances (Hz, in descending order of strength): a crude vowel. */
function vowel(
  target: Float32Array,
  from: number,
  to: number,
  formants: readonly number[],
  loudness = 0.2,
): void {
  for (let n = from * SAMPLE_RATE; n < to * SAMPLE_RATE; n++) {
    let sum = 0;
    for (let harmonic = 1; harmonic * 130 < 4000; harmonic++) {
      const hertz = harmonic * 130;
      const gain = formants.reduce(
        (total, f, i) => total + 1 / (1 + ((hertz - f) / 80) ** 2) / (i + 1) ** 3,
        0,
      );
      sum += gain * Math.sin((2 * Math.PI * hertz * n) / SAMPLE_RATE);
    }
    target[n] = (target[n] ?? 0) + (sum * loudness) / 4;
  }
}

const OPEN_A = [750, 1200, 2500];
const ROUND_O = [430, 800, 2300];
const SPREAD_I = [300, 2300];

test('silence gives a closed mouth at rest', async () => {
  const states = await statesOf(new Float32Array(10 * SAMPLE_RATE));
  for (const name of CUES) expect(cue(states, name, 5)).toBe(0);
});

test('a vowel opens the mouth while it lasts and not in the pauses', async () => {
  const audio = new Float32Array(10 * SAMPLE_RATE);
  vowel(audio, 2, 2.4, OPEN_A);
  vowel(audio, 3, 3.4, OPEN_A);
  const states = await statesOf(audio);
  expect(cue(states, 'jaw', 2.2)).toBeGreaterThan(0.7);
  expect(cue(states, 'jaw', 2.7)).toBe(0);
  expect(cue(states, 'jaw', 3.2)).toBeGreaterThan(0.7);
});

test('a quiet recording opens the mouth like a loud one', async () => {
  const audio = new Float32Array(10 * SAMPLE_RATE);
  vowel(audio, 2, 2.4, OPEN_A, 0.03);
  expect(cue(await statesOf(audio), 'jaw', 2.2)).toBeGreaterThan(0.7);
});

test('faint noise alone is not speech', async () => {
  const audio = Float32Array.from({ length: 10 * SAMPLE_RATE }, (_, n) => 0.001 * Math.sin(n * n));
  expect(cue(await statesOf(audio), 'jaw', 5)).toBeLessThan(0.1);
});

test('steady noise 16 dB below the voice does not keep the mouth open between words', async () => {
  const audio = Float32Array.from({ length: 10 * SAMPLE_RATE }, (_, n) => 0.02 * Math.sin(n * n));
  for (let second = 1; second < 9; second++) vowel(audio, second, second + 0.4, OPEN_A, 0.4);
  const states = await statesOf(audio);
  expect(cue(states, 'jaw', 5.2)).toBeGreaterThan(0.7);
  expect(cue(states, 'jaw', 5.7)).toBeLessThan(0.1);
});

test('o rounds the lips, i spreads the corners', async () => {
  const audio = new Float32Array(10 * SAMPLE_RATE);
  vowel(audio, 2, 2.4, ROUND_O);
  vowel(audio, 4, 4.4, SPREAD_I);
  const states = await statesOf(audio);
  expect(cue(states, 'rounding', 2.2)).toBeGreaterThan(0.5);
  expect(cue(states, 'spreading', 2.2)).toBe(0);
  expect(cue(states, 'spreading', 4.2)).toBeGreaterThan(0.5);
  expect(cue(states, 'rounding', 4.2)).toBe(0);
});

test('what is said more than 7 s later does not change the present cues', async () => {
  const audio = new Float32Array(20 * SAMPLE_RATE);
  vowel(audio, 2, 2.4, OPEN_A);
  const before = await statesOf(audio);
  vowel(audio, 10, 12, ROUND_O, 0.9);
  const after = await statesOf(audio);
  for (const name of CUES) expect(cue(after, name, 2.2)).toBe(cue(before, name, 2.2));
});

describe('a recording that is cut from one spectrogram', () => {
  test('opens the mouth while a vowel lasts and not in silence', async () => {
    const audio = new Float32Array(10 * SAMPLE_RATE);
    vowel(audio, 2, 2.4, OPEN_A);
    const states = await sliceStatesOf(audio);
    expect(cue(states, 'jaw', 2.2)).toBeGreaterThan(0.7);
    for (const second of [1, 2.8, 5, 9.9]) expect(cue(states, 'jaw', second)).toBe(0);
  });

  test.each([
    ['loud', 0.2],
    ['quiet', 0.01],
  ])('has no speech in the padding after its end: %s', async (_, loudness) => {
    const audio = new Float32Array(4 * SAMPLE_RATE);
    vowel(audio, 1, 1.4, OPEN_A, loudness);
    const states = await sliceStatesOf(audio);
    for (const second of [4.2, 6, 12, 29]) expect(cue(states, 'jaw', second)).toBeLessThan(0.1);
    // Nor does the padding hide what precedes it.
    expect(cue(states, 'jaw', 1.2)).toBeGreaterThan(0.5);
    expect(cue(states, 'jaw', 3)).toBe(0);
  });

  test('is never all zero, not even in silence, because that would mean no audio was given', async () => {
    const states = await sliceStatesOf(new Float32Array(2 * SAMPLE_RATE));
    for (let step = 0; step < 100; step++) {
      const values = states.subarray(step * STATES * WIDTH, (step + 1) * STATES * WIDTH);
      expect(values.some((value) => value !== 0)).toBe(true);
    }
  });
});
