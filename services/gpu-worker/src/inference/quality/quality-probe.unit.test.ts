import { type Clock, constantClock, framesOf, middleOf } from '@lipsync/domain';
import { recordingOf, type RunModel, SAMPLE_RATE, SessionError } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { pictureLayout } from '@lipsync/kernels';
import { type LoadedAnalyzer } from '../analyzer/analyze-faces';
import { MIRRORED_LANDMARKS } from '../analyzer/landmark-finder';
import { createQualityProbe, loudestSegment, type QualityProbe } from './quality-probe';

const FRAMES = 110;
const FORMAT = {
  width: 192,
  height: 192,
  matrix: 'bt709',
  range: 'full',
  depth: 8,
  transfer: 'sdr',
} as const;
const FACE = { x1: 50, y1: 50, x2: 140, y2: 150 };
const SIDE = 16;
const LANDMARKS = {
  inputSize: SIDE,
  scale: 1.2,
  maxDisagreement: 0.03,
  maxDisagreementBlurred: 0.045,
};
const CLOSED = 60;

/** Loudness of every frame: syllables of changing length. */
const VOICE = Array.from({ length: FRAMES }, (_, i) =>
  Math.max(0, 0.15 * (Math.sin(i * 0.9) + Math.sin(i * 0.37))),
);
const SPEECH = Float32Array.from(
  { length: (FRAMES * SAMPLE_RATE) / 25 },
  (_, n) => (VOICE[Math.floor((n * 25) / SAMPLE_RATE)] ?? 0) * Math.sin(n),
);
const SILENCE = new Float32Array(SPEECH.length);

/** An analyzer that sees a mouth the more open the brighter the middle of the face is. */
const analyzer: LoadedAnalyzer = {
  params: {
    detector: {
      inputSizes: [416],
      stride: 32,
      scoreThreshold: 0.3,
      overlapThreshold: 0.4,
      boxScale: 1.2,
      closeUp: { inputSize: 160, scale: 1.8, scoreThreshold: 0.15, sureScore: 0.6 },
    },
    landmarks: LANDMARKS,
  },
  version: 'brightness@1.0.0',
  run: async (_, feeds) => {
    const looks = feeds['image']?.data ?? [];
    const middle = Number(looks[(SIDE * (SIDE / 2) + SIDE / 2) * 3]);
    const face = faceWithMouth((middle - CLOSED) / 400);
    const twins = face.map((_, i) => {
      const value = face[(MIRRORED_LANDMARKS[i >> 1] ?? 0) * 2 + (i % 2)] ?? NaN;
      return i % 2 === 0 ? 1 - value : value;
    });
    const data = Float32Array.from([...face, ...twins]);
    return { outputs: { points: { type: 'float32', dims: [2, 136], data } }, feeds };
  },
};

/** Points of a face in a unit square: eyes 0.4 apart, the inner lips apart by `opening` times that. */
function faceWithMouth(opening: number): number[] {
  const points = Array.from({ length: 68 }, (_, i): [number, number] => {
    if (i >= 36 && i < 48) return [i < 42 ? 0.3 : 0.7, 0.4];
    if (i >= 61 && i <= 63) return [0.4 + (i - 61) * 0.1, 0.7];
    return i >= 65 ? [0.4 + (67 - i) * 0.1, 0.7 + 0.4 * opening] : [0.5, 0.5];
  });
  return points.flat();
}

const NEVER = new AbortController().signal;

function newProbe(audio = SPEECH, run = analyzer.run, signal = NEVER): QualityProbe {
  return probeOf(constantClock({ num: 25, den: 1 }, FRAMES), audio, run, signal);
}

function probeOf(clock: Clock, audio = SPEECH, run = analyzer.run, signal = NEVER): QualityProbe {
  const track = syntheticTrack({ frames: framesOf(clock), ...FORMAT, box: FACE });
  const sources = [...track.found.keys()];
  const clip = { track, sources, clock, audio: recordingOf(audio), format: FORMAT, signal };
  return createQualityProbe({ ...clip, analyzer: { ...analyzer, run } });
}

const blank = (): Uint8Array => new Uint8Array(pictureLayout(FORMAT).bytes).fill(128);

/** Shows the probe these output frames, each with a face as bright as its mouth is open. */
function show(probe: QualityProbe, outputs: readonly number[], openingOf: (output: number) => number): void {
  const frame = blank();
  for (const output of outputs) {
    probe.taken(0.5);
    probe.before(frame.fill(128), output);
    for (let y = 60; y < 145; y++) {
      frame.fill(CLOSED + 400 * openingOf(output), y * FORMAT.width + 55, y * FORMAT.width + 135);
    }
    probe.after(frame, output);
  }
}
const all = Array.from({ length: FRAMES }, (_, i) => i);
const talking = (lag: number) => (output: number) => VOICE[output - lag] ?? 0;

const refuses =
  (error: Error): RunModel =>
  () =>
    Promise.reject(error);
const UNMEASURED = { syncCorrelation: null, syncLagSeconds: null };

test.each([-1, 0, 3])('a mouth %i frames behind the voice is measured as that late', async (lag) => {
  const probe = newProbe();
  show(probe, all, talking(lag));
  const { syncCorrelation, syncLagSeconds, sampledFrames, problem } = await probe.judge();
  expect(syncCorrelation).toBeGreaterThan(0.9);
  expect([syncLagSeconds, sampledFrames, problem]).toEqual([lag * 0.04, 100, null]);
});

test.each([
  { num: 12, den: 1 },
  { num: 24_000, den: 1001 },
  { num: 60, den: 1 },
])('at $num/$den pictures a second sync is measured as well, in no more faces', async (rate) => {
  const clock = constantClock(rate, Math.floor((4.4 * rate.num) / rate.den));
  const probe = probeOf(clock);
  const late = (output: number): number => VOICE[Math.floor((middleOf(clock, output) - 0.08) * 25)] ?? 0;
  show(probe, [...Array(framesOf(clock)).keys()], late);
  const { syncCorrelation, syncLagSeconds, sampledFrames } = await probe.judge();
  expect(syncCorrelation).toBeGreaterThan(0.8);
  expect(syncLagSeconds).toBe(0.08);
  expect(sampledFrames).toBeLessThanOrEqual(100);
});

test('there is no sync to measure in silence, however the mouth moves', async () => {
  const probe = newProbe(SILENCE);
  show(probe, all, talking(0));
  expect(await probe.judge()).toMatchObject(UNMEASURED);
});

test('a mouth that stays closed during speech counts as not following', async () => {
  const probe = newProbe();
  show(probe, all, () => 0);
  expect(await probe.judge()).toMatchObject({ syncCorrelation: 0, syncLagSeconds: null });
});

test('faces for less than three seconds yield no sync, and the analyzer is not run', async () => {
  const run = refuses(new Error('asked'));
  const few = newProbe(SPEECH, run);
  show(few, all.slice(10, 84), talking(0));
  expect(await few.judge()).toMatchObject({ ...UNMEASURED, sampledFrames: 74, problem: null });

  const enough = newProbe(SPEECH, run);
  show(enough, all.slice(10, 85), talking(0));
  expect(await enough.judge()).toMatchObject({ problem: 'asked' });
});

test('once the render has stopped, no graph runs for mouths that were still to be found', async () => {
  const stop = new AbortController();
  let runs = 0;
  const probe = newProbe(
    SPEECH,
    async (...call) => {
      if (++runs === 3) stop.abort();
      return analyzer.run(...call);
    },
    stop.signal,
  );
  show(probe, all, talking(0));
  await probe.ended();
  expect(runs).toBe(3);
});

test('frames that the engine left alone count as faceless, even if the track has a face', async () => {
  const probe = newProbe();
  for (let output = 0; output < 22; output++) probe.passed();
  show(probe, all.slice(22), talking(0));
  expect((await probe.judge()).facelessShare).toBe(0.2);
});

test('faces larger than the generated ones are counted, and the largest factor is reported', async () => {
  const probe = newProbe();
  expect(await probe.judge()).toMatchObject({ enlargedShare: 0, largestEnlargement: null });
  for (const enlargement of [0.4, 1, 1.5, 2.25]) probe.taken(enlargement);
  expect(await probe.judge()).toMatchObject({ enlargedShare: 2 / FRAMES, largestEnlargement: 2.25 });
});

test('sync is measured in the segment with the most speech', () => {
  expect(loudestSegment([0, 0, 1, 5, 4, 0, 1], Array(7).fill(true), 2)).toEqual({ from: 3, to: 5 });
});

test('speech over frames without a face does not count', () => {
  const shown = [true, true, true, false, false, true, true];
  expect(loudestSegment([0, 2, 1, 5, 4, 0, 1], shown, 2)).toEqual({ from: 1, to: 3 });
});

test('an output shorter than the segment is taken whole', () => {
  expect(loudestSegment([1, 2], [true, true], 75)).toEqual({ from: 0, to: 2 });
});

test.each([
  ['run_failed', true],
  ['load_failed', true],
  ['out_of_memory', false],
] as const)(
  'networks that fail, %s, cost only the sync; a graph failed for a reason other than memory: %s',
  async (reason, told) => {
    const probe = newProbe(SPEECH, refuses(new SessionError(reason, 'no')));
    show(probe, all, () => 0);
    expect(probe.graphFailed()).toBe(false);
    const judged = await probe.judge();
    expect(judged).toMatchObject({ ...UNMEASURED, seamLevels: 128 - CLOSED, problem: 'no' });
    expect(probe.graphFailed()).toBe(told);
  },
);

test.each(['before', 'after'] as const)(
  'an observation that fails %s a face was written is reported, fails no frame, and is the last one',
  async (look) => {
    class Broken extends Uint8Array {
      override subarray(): never {
        throw new RangeError('beyond the picture');
      }
    }
    const [good, broken] = [blank(), new Broken(blank())];
    const probe = newProbe();
    for (const output of all) {
      probe.before(look === 'before' ? broken : good, output);
      probe.after(look === 'after' ? broken : good, output);
    }
    expect(await probe.judge()).toMatchObject({ sampledFrames: 0, problem: 'beyond the picture' });
  },
);
