import { type RunModel } from '../model';
import { recordingOf, SAMPLE_RATE } from './log-mel';
import { type Stretch, VOICE_CONTEXT, VOICE_STEP, voiceActivity } from './voice-activity';
import { voiceOnly } from './voice-only';

const STEP = VOICE_STEP / SAMPLE_RATE;

/**
 * A detector to which the first sample of a step is the probability, and which keeps what it hears. Its memory is the
 * number of the steps so far, as it must be when runs continue each other.
 */
function reads(probabilities: readonly number[]) {
  const sound = new Float32Array(probabilities.length * VOICE_STEP);
  probabilities.forEach((value, step) => (sound[step * VOICE_STEP] = value));
  const heard: Float32Array[] = [];
  const stepsOf = (samples: Float32Array): number => (samples.length - VOICE_CONTEXT) / VOICE_STEP;
  const run: RunModel = (role, feeds) => {
    const [samples, state] = [feeds['sound']?.data, feeds['state']?.data];
    if (role !== 'voice' || !(samples instanceof Float32Array) || !(state instanceof Float32Array))
      throw new TypeError('sound and state expected');
    const steps = stepsOf(samples);
    expect(state[0]).toBe(heard.reduce((sum, part) => sum + stepsOf(part), 0));
    heard.push(samples);
    const voice = Float32Array.from(
      { length: steps },
      (_, i) => samples[VOICE_CONTEXT + i * VOICE_STEP] ?? NaN,
    );
    const next = state.slice().fill((state[0] ?? 0) + steps);
    return Promise.resolve({
      outputs: {
        voice: { type: 'float32', dims: [steps], data: voice },
        next: { type: 'float32', dims: [2, 1, 128], data: next },
      },
      feeds,
    });
  };
  return { recording: recordingOf(sound), run, heard };
}

const times = (count: number, value: number): number[] => Array<number>(count).fill(value);

async function found(...probabilities: readonly number[]): Promise<readonly Stretch[]> {
  const { recording, run } = reads(probabilities);
  return voiceActivity(recording, run);
}

describe('voice activity', () => {
  test('reaches from before the onset to after the end of what is heard', async () => {
    const [stretch, ...others] = await found(...times(50, 0), ...times(20, 0.9), ...times(50, 0));
    expect(others).toEqual([]);
    expect(stretch?.start).toBeCloseTo(50 * STEP - 0.2, 6);
    expect(stretch?.end).toBeCloseTo(70 * STEP + 0.25, 6);
  });

  test('goes on through doubts, and does not begin with them', async () => {
    const doubts = times(20, 0.07);
    expect(await found(...doubts, ...doubts)).toEqual([]);
    const [stretch] = await found(...times(50, 0), 0.9, ...doubts, 0.9, ...times(50, 0));
    expect(stretch?.end).toBeCloseTo(72 * STEP + 0.25, 6);
  });

  test('goes on through the pauses of a sentence, and ends in longer ones', async () => {
    const pause = (seconds: number): number[] => times(Math.round(seconds / STEP), 0);
    expect(await found(0.9, ...pause(0.7), 0.9)).toHaveLength(1);
    expect(await found(0.9, ...pause(1), 0.9)).toHaveLength(2);
  });

  test('stays within the recording', async () => {
    expect(await found(...times(30, 0.9))).toEqual([{ start: 0, end: 30 * STEP }]);
    expect(await found()).toEqual([]);
  });

  test('reads any length in runs of half a minute that continue each other', async () => {
    const { recording, run, heard } = reads(times(2000, 0.9));
    expect(await voiceActivity(recording, run)).toEqual([{ start: 0, end: 2000 * STEP }]);
    const [, ...runs] = heard;
    expect(runs.map(({ length }) => length - VOICE_CONTEXT)).toEqual(
      [960, 960, 80].map((steps) => steps * VOICE_STEP),
    );
  });

  test('first hears the start backwards, and its context before the first step', async () => {
    const { run, heard } = reads([]);
    const ramp = Float32Array.from({ length: 8 * SAMPLE_RATE }, (_, n) => n + 1);
    await voiceActivity(recordingOf(ramp), run);
    const [leadIn, start] = heard;
    expect(leadIn).toEqual(ramp.slice(0, 192 * VOICE_STEP + VOICE_CONTEXT).reverse());
    expect(start?.subarray(0, VOICE_CONTEXT)).toEqual(ramp.slice(0, VOICE_CONTEXT).reverse());
    expect(start?.subarray(VOICE_CONTEXT)).toEqual(ramp);
  });

  test('hears a start that is shorter than that back and forth', async () => {
    const { run, heard } = reads([]);
    await voiceActivity(recordingOf(Float32Array.of(1, 2, 3)), run);
    expect(heard[0]?.slice(-8)).toEqual(Float32Array.of(2, 1, 1, 2, 3, 3, 2, 1));
  });
});

describe('a recording of the voice only', () => {
  const sound = Float32Array.from({ length: 3 * SAMPLE_RATE }, (_, n) => 0.5 + 0.4 * Math.sin(n));
  const recording = recordingOf(sound);
  const stretches = [
    { start: 0, end: 0.5 },
    { start: 1, end: 1.5 },
  ];
  const whole = voiceOnly(recording, stretches).read(0, sound.length);
  const at = (seconds: number): number => seconds * SAMPLE_RATE;

  test('is as recorded within the stretches, and silent outside of them and their ramps', () => {
    for (const { start, end } of stretches)
      expect(whole.subarray(at(start), at(end))).toEqual(sound.subarray(at(start), at(end)));
    const rests = [...whole.subarray(at(0.525), at(0.975)), ...whole.subarray(at(1.525))];
    expect(rests.every((sample) => sample === 0)).toBe(true);
  });

  test('comes and goes evenly', () => {
    const steady = voiceOnly(recordingOf(sound.map(() => 1)), stretches).read(0, sound.length);
    for (let n = 1; n < steady.length; n++)
      expect(Math.abs((steady[n] ?? NaN) - (steady[n - 1] ?? NaN))).toBeLessThan(0.004);
  });

  test('is the same in pieces, and silent before its start and beyond its end', () => {
    const voice = voiceOnly(recording, stretches);
    expect(voice.length).toBe(sound.length);
    for (const from of [at(0.51), at(0.98), at(1.4)])
      expect(voice.read(from, from + 1000)).toEqual(whole.subarray(from, from + 1000));
    expect([...voice.read(-10, 0), ...voice.read(sound.length, sound.length + 10)]).toEqual(times(20, 0));
  });

  test('reads nothing of what it silences', () => {
    const asked: [number, number][] = [];
    const watched = {
      length: recording.length,
      read: (from: number, to: number) => {
        asked.push([from, to]);
        return recording.read(from, to);
      },
    };
    voiceOnly(watched, stretches).read(at(0.6), at(2.5));
    expect(asked).toEqual([[at(0.975), at(1.525)]]);
  });
});
