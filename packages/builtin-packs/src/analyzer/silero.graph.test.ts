import { SAMPLE_RATE, VOICE_CONTEXT, VOICE_STATE, VOICE_STEP } from '@lipsync/engines';
import { encodeModel } from '@lipsync/model-pack';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { glidingVoice } from '../test/gliding-voice';
import { publishedSilero } from './pack';
import { sileroVoice } from './silero';

const STEPS = 90;
const STATE_VALUES = VOICE_STATE[0] * VOICE_STATE[2];

/** A second of a voice, then noise. */
const sound = Float32Array.from({ length: VOICE_CONTEXT + STEPS * VOICE_STEP }, (_, n) => {
  const seconds = n / SAMPLE_RATE;
  return seconds > 1 ? 0.2 * Math.sin(n * n) : glidingVoice(seconds);
});

let ours: InferenceSession;
let published: InferenceSession;
beforeAll(async () => {
  const file = await publishedSilero();
  ours = await InferenceSession.create(encodeModel(sileroVoice(file)));
  published = await InferenceSession.create(file, { logSeverityLevel: 3 });
});
afterAll(() => Promise.all([ours.release(), published.release()]));

/** A run over the steps [from, to) of the sound: probabilities, and the state after them. */
async function heard(state: Float32Array, from: number, to: number) {
  const part = sound.slice(from * VOICE_STEP, to * VOICE_STEP + VOICE_CONTEXT);
  const { voice, next } = await ours.run({
    sound: new Tensor('float32', part, [part.length]),
    state: new Tensor('float32', state, VOICE_STATE),
  });
  return { voice: floatsOf(voice), next: floatsOf(next) };
}

function floatsOf(tensor: Tensor | undefined): Float32Array {
  if (!(tensor?.data instanceof Float32Array)) throw new TypeError('float32 expected');
  return Float32Array.from(tensor.data);
}

test('a run over many steps gives what the published network gives step by step', async () => {
  const { voice, next } = await heard(new Float32Array(STATE_VALUES), 0, STEPS);
  let state: Float32Array = new Float32Array(STATE_VALUES);
  const expected: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const input = sound.slice(step * VOICE_STEP, (step + 1) * VOICE_STEP + VOICE_CONTEXT);
    const { output, stateN } = await published.run({
      input: new Tensor('float32', input, [1, input.length]),
      state: new Tensor('float32', state, VOICE_STATE),
      sr: new Tensor('int64', BigInt64Array.of(16_000n), []),
    });
    expected.push(floatsOf(output)[0] ?? NaN);
    state = floatsOf(stateN);
  }
  expect(Math.max(...expected)).toBeGreaterThan(0.9);
  expect(Math.min(...expected)).toBeLessThan(0.2);
  expect(voice).toHaveLength(STEPS);
  voice.forEach((probability, i) => expect(probability).toBeCloseTo(expected[i] ?? NaN, 4));
  next.forEach((value, i) => expect(value).toBeCloseTo(state[i] ?? NaN, 3));
});

test('runs continue each other', async () => {
  const whole = await heard(new Float32Array(STATE_VALUES), 0, STEPS);
  const first = await heard(new Float32Array(STATE_VALUES), 0, 25);
  const second = await heard(first.next, 25, STEPS);
  [...first.voice, ...second.voice].forEach((value, i) =>
    expect(value).toBeCloseTo(whole.voice[i] ?? NaN, 5),
  );
});

test('another network is refused', async () => {
  const other = encodeModel(sileroVoice(await publishedSilero()));
  expect(() => sileroVoice(other)).toThrow("Silero's detector: there is no");
});
