import {
  CUES_PER_SECOND,
  hear,
  recordingOf,
  type RunModel,
  SAMPLE_RATE,
  voiceActivity,
} from '@lipsync/engines';
import { type TestPacks, testPacks } from '@lipsync/engines/test/test-sessions';
import { glidingVoice } from '../test/gliding-voice';
import { buildAnalyzerPack } from './pack';

let packs: TestPacks;
let run: RunModel;
beforeAll(async () => {
  packs = await testPacks();
  run = await packs.load(await buildAnalyzerPack(packs.at('analyzer')));
});
afterAll(() => packs.close());

/** Two seconds. */
const VOICE = Float32Array.from({ length: 2 * SAMPLE_RATE }, (_, n) => glidingVoice(n / SAMPLE_RATE));

/** Seconds of faint noise, and the voice from each of these on. */
function recording(seconds: number, ...voices: readonly number[]) {
  const sound = Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, n) => 0.0005 * Math.sin(n * n));
  for (const from of voices) sound.set(VOICE, from * SAMPLE_RATE);
  return recordingOf(sound);
}

test('a voice is found where it is, with room for its onset and its end, in any half minute', async () => {
  const stretches = await voiceActivity(recording(40, 5, 29.5), run);
  expect(stretches).toHaveLength(2);
  for (const [i, from] of [5, 29.5].entries()) {
    const { start = NaN, end = NaN } = stretches[i] ?? {};
    expect(start).toBeGreaterThan(from - 0.4);
    expect(start).toBeLessThan(from);
    expect(end).toBeGreaterThan(from + 2);
    expect(end).toBeLessThan(from + 2.6);
  }
});

test('a voice that begins with the recording is heard from its start', async () => {
  expect(await voiceActivity(recordingOf(VOICE), run)).toEqual([{ start: 0, end: 2 }]);
});

/** Two notes in a second, which fade. Without a lead-in the detector takes the first of them for a voice. */
function bassLine(n: number): number {
  const seconds = n / SAMPLE_RATE;
  const note = [110, 98, 82, 98][Math.floor(2 * seconds) % 4] ?? 0;
  const partials = Array.from(
    { length: 10 },
    (_, i) => Math.sin(2 * Math.PI * (i + 1) * note * seconds) / (i + 1),
  );
  return 0.2 * Math.exp(-3 * (seconds % 0.5)) * partials.reduce((sum, partial) => sum + partial, 0);
}

test.each([
  ['silence', () => 0],
  ['noise', (n: number) => 0.2 * Math.sin(n * n)],
  ['a hum', (n: number) => 0.2 * Math.sin((2 * Math.PI * 50 * n) / SAMPLE_RATE)],
  ['a bass line', bassLine],
])('%s is no voice', async (_, sample) => {
  const sound = Float32Array.from({ length: 5 * SAMPLE_RATE }, (__, n) => sample(n));
  expect(await voiceActivity(recordingOf(sound), run)).toEqual([]);
});

test('cues are those of the moment that is heard, in any half minute', async () => {
  const { jaw } = await hear(recording(50, 5, 29, 46), run);
  expect(jaw).toHaveLength(50 * CUES_PER_SECOND);
  const around = (from: number): Float32Array =>
    jaw.slice((from - 1) * CUES_PER_SECOND, (from + 3) * CUES_PER_SECOND);
  expect(Math.max(...around(5))).toBeGreaterThan(0.3);
  for (const from of [29, 46])
    around(from).forEach((value, i) => expect(value).toBeCloseTo(around(5)[i] ?? NaN, 1));
});
