import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CUES, MEL_BANDS, recordingOf, SAMPLE_RATE, SEGMENT_FRAMES } from '@lipsync/engines';
import { logMel, melSlice, segmentLogMel } from '@lipsync/engines/test';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { z } from 'zod';
import { audioEncoderModel, CUE_STATE, STATES, STEPS, WIDTH } from './audio-encoder';

/**
 * A sentence of a synthesizer's voice that training never heard, written by scripts/export/train_hearing.py: what is said
 * when, in seconds, and which cues the trained network gives in some steps.
 */
const speech = z
  .object({
    frames: z.int(),
    /** The values on Whisper's scale for which the bytes 0 and 255 stand. */
    range: z.tuple([z.number(), z.number()]),
    units: z.array(z.tuple([z.string(), z.number(), z.number(), z.number().nullable()])),
    heard: z.array(z.tuple([z.int()], z.number())),
  })
  .parse(JSON.parse(stored('speech.json').toString()));
const SPECTROGRAM = stored('speech.mel');
/** Whisper's scale ends here: log10 of the power −10. */
const SILENCE = -1.5;

function stored(name: string): Buffer {
  return readFileSync(join(__dirname, '../../test-data/hearing', name));
}

let session: InferenceSession;
beforeAll(async () => {
  session = await InferenceSession.create(audioEncoderModel());
});
afterAll(() => session.release());

async function heard(spectrogram: Float32Array): Promise<Float32Array> {
  const { states } = await session.run({
    mel: new Tensor('float32', spectrogram, [1, MEL_BANDS, SEGMENT_FRAMES]),
  });
  expect(states?.dims).toEqual([1, STEPS, STATES, WIDTH]);
  if (!(states?.data instanceof Float32Array)) throw new TypeError('float32 states expected');
  return states.data;
}

/**
 * A segment with the sentence in it from the given frames on, otherwise `padding`. `louder` is in units of Whisper's
 * scale.
 */
function spoken({ at = [0], padding = SILENCE, louder = 0 } = {}): Float32Array {
  const segment = new Float32Array(MEL_BANDS * SEGMENT_FRAMES).fill(padding);
  const [low, high] = speech.range;
  for (const start of at) {
    for (const [i, byte] of SPECTROGRAM.entries()) {
      const [band, frame] = [Math.floor(i / speech.frames), i % speech.frames];
      segment[band * SEGMENT_FRAMES + start + frame] = low + (byte * (high - low)) / 255 + louder;
    }
  }
  return segment;
}

const cuesAt = (states: Float32Array, step: number): Float32Array => {
  const at = (step * STATES + CUE_STATE) * WIDTH;
  return states.subarray(at, at + CUES.length);
};
const cue = (states: Float32Array, name: (typeof CUES)[number], step: number): number =>
  cuesAt(states, step)[CUES.indexOf(name)] ?? NaN;

const stepAt = (seconds: number): number => Math.floor(seconds * 50);
const middle = ([, start, end]: (typeof speech.units)[number]): number => stepAt((start + end) / 2);
const unitsOf = (kind: string) => speech.units.filter((unit) => unit[0] === kind);
/** The highest value of a cue during each unit of a kind. */
const peaks = (states: Float32Array, name: (typeof CUES)[number], kind: string): number[] =>
  unitsOf(kind).map(([, start, end]) => {
    const steps = Array.from({ length: stepAt(end) - stepAt(start) + 1 }, (_, i) => stepAt(start) + i);
    return Math.max(...steps.map((step) => cue(states, name, step)));
  });
const share = (values: readonly number[], holds: (value: number) => boolean): number =>
  values.filter(holds).length / values.length;
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

test('the graph hears what the trained network hears', async () => {
  const states = await heard(spoken());
  expect(speech.heard.length).toBeGreaterThan(20);
  for (const [step, ...cues] of speech.heard) {
    for (const [i, value] of cuesAt(states, step).entries()) expect(value).toBeCloseTo(cues[i] ?? NaN, 2);
  }
});

describe('in a sentence of an unknown voice', () => {
  let states: Float32Array;
  beforeAll(async () => {
    states = await heard(spoken());
  });

  test('lips close at p, b and m, and not in vowels', () => {
    expect(share(peaks(states, 'closure', 'closure'), (value) => value >= 0.8)).toBeGreaterThanOrEqual(0.9);
    const vowels = unitsOf('vowel').map((unit) => cue(states, 'closure', middle(unit)));
    expect(share(vowels, (value) => value >= 0.5)).toBeLessThanOrEqual(0.1);
  });

  test('the lower lip meets the teeth at f and v', () => {
    expect(share(peaks(states, 'dental', 'dental'), (value) => value >= 0.8)).toBeGreaterThanOrEqual(0.6);
  });

  test('the jaw is lower in open vowels than in close ones', () => {
    const jaw = (fits: (target: number) => boolean): number =>
      mean(
        unitsOf('vowel')
          .filter(([, , , target]) => fits(target ?? NaN))
          .map((unit) => cue(states, 'jaw', middle(unit))),
      );
    expect(jaw((target) => target > 0.7)).toBeGreaterThan(1.5 * jaw((target) => target < 0.3));
  });

  test('the mouth rests before and after', () => {
    for (const step of [0, 10, stepAt(speech.frames / 100 - 0.2), 800, 1499])
      for (const value of cuesAt(states, step)) expect(value).toBe(0);
  });
});

test.each([
  ['20 dB quieter', -0.5],
  ['10 dB louder', 0.25],
])('%s, the mouth moves the same', async (_, louder) => {
  const [usual, changed] = [await heard(spoken()), await heard(spoken({ louder }))];
  for (let step = 0; step < speech.frames / 2; step++)
    for (const [i, value] of cuesAt(usual, step).entries())
      expect(cuesAt(changed, step)[i]).toBeCloseTo(value, 2);
});

test('the zeros with which a spectrogram is padded are silence', async () => {
  const [silent, padded] = [await heard(spoken()), await heard(spoken({ padding: 0 }))];
  for (let step = 0; step < STEPS; step++) expect(cuesAt(padded, step)).toEqual(cuesAt(silent, step));
});

test('what is said 6 s later changes nothing now', async () => {
  const steps = Math.floor(speech.frames / 2);
  const [once, twice] = [await heard(spoken()), await heard(spoken({ at: [0, speech.frames + 600] }))];
  for (let step = 0; step < steps; step++) expect(cuesAt(twice, step)).toEqual(cuesAt(once, step));
  expect(cue(twice, 'jaw', steps + 300 + stepAt(1))).not.toBe(cue(once, 'jaw', steps + 300 + stepAt(1)));
});

describe('the mouth rests', () => {
  const seconds = (sample: (n: number) => number) =>
    Float32Array.from({ length: 10 * SAMPLE_RATE }, (_, n) => sample(n));
  /** With overtones. */
  const tone = (n: number, hertz: number): number =>
    [1, 2, 3, 4].reduce(
      (sum, k) => sum + (0.1 / k) * Math.sin((2 * Math.PI * k * hertz * n) / SAMPLE_RATE),
      0,
    );

  test.each([
    ['silence', seconds(() => 0)],
    ['faint noise', seconds((n) => 0.0005 * Math.sin(n * n))],
    ['loud noise', seconds((n) => 0.2 * Math.sin(n * n))],
    ['hum', seconds((n) => tone(n, 50))],
  ])('in %s', async (_, audio) => {
    const states = await heard(segmentLogMel(recordingOf(audio), 0));
    const jaws = Array.from({ length: 400 }, (_, i) => cue(states, 'jaw', 50 + i));
    expect(mean(jaws)).toBeLessThan(0.05);
  });
});

test('states are never all zero, not even in silence, because that would mean no audio was given', async () => {
  const states = await heard(melSlice(logMel(recordingOf(new Float32Array(2 * SAMPLE_RATE))), 0));
  for (let step = 0; step < 100; step++) {
    const values = states.subarray(step * STATES * WIDTH, (step + 1) * STATES * WIDTH);
    expect(values.some((value) => value !== 0)).toBe(true);
  }
});
