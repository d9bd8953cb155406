import { pictureLayout, recordingOf, SAMPLE_RATE } from '@lipsync/lipsync';
import { type SeenQuality } from '../../protocol/messages';
import { syntheticTrack } from '../../test/synthetic-track';
import { type LoadedAnalyzer } from '../analyzer/analyze-faces';
import { MIRRORED_LANDMARKS } from '../analyzer/landmark-finder';
import { type RunModel } from '../packs/run-model';
import { SessionError } from '../sessions/session';
import { createQualityProbe, createUnfailingProbe, loudestStretch, type QualityProbe } from './quality-probe';

const FRAMES = 110;
const FORMAT = { width: 192, height: 192, matrix: 'bt709', range: 'full' } as const;
const FACE = { x1: 50, y1: 50, x2: 140, y2: 150 };
const SIDE = 16;
const LANDMARKS = {
  ...{ inputSize: SIDE, scale: 1.2, maxDisagreement: 0.03, maxDisagreementBlurred: 0.045 },
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
      ...{ inputSizes: [416], stride: 32, scoreThreshold: 0.3, overlapThreshold: 0.4 },
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

function newProbe(audio = SPEECH, hasFace: (frame: number) => boolean = () => true): QualityProbe {
  const track = syntheticTrack({ frames: FRAMES, ...FORMAT, box: FACE, hasFace });
  const sources = Array.from({ length: FRAMES }, (_, i) => i);
  return createQualityProbe({ track, sources, audio: recordingOf(audio), format: FORMAT });
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

test.each([-1, 0, 3])('a mouth %i frames behind the voice is measured as that late', async (lag) => {
  const probe = newProbe();
  show(probe, all, talking(lag));
  const { syncCorrelation, syncLagFrames } = await probe.sync(analyzer);
  expect(syncCorrelation).toBeGreaterThan(0.9);
  expect(syncLagFrames).toBe(lag);
  expect(probe.seen().sampledFrames).toBe(100);
});

test('there is no sync to measure in silence, however the mouth moves', async () => {
  const probe = newProbe(SILENCE);
  show(probe, all, talking(0));
  expect(await probe.sync(analyzer)).toEqual({ syncCorrelation: null, syncLagFrames: null });
});

test('a mouth that stays closed during speech counts as not following', async () => {
  const probe = newProbe();
  show(probe, all, () => 0);
  expect(await probe.sync(analyzer)).toEqual({ syncCorrelation: 0, syncLagFrames: null });
});

test('faces for less than three seconds yield no sync, and the analyzer is not run', async () => {
  const refuses: RunModel = () => Promise.reject(new Error('asked'));
  const few = newProbe();
  show(few, all.slice(10, 84), talking(0));
  expect(few.seen().sampledFrames).toBe(74);
  expect(await few.sync({ ...analyzer, run: refuses })).toEqual({
    syncCorrelation: null,
    syncLagFrames: null,
  });

  const enough = newProbe();
  show(enough, all.slice(10, 85), talking(0));
  await expect(enough.sync({ ...analyzer, run: refuses })).rejects.toThrow('asked');
});

test('frames that the engine left alone count as faceless, even if the track has a face', () => {
  const probe = newProbe();
  for (let output = 0; output < 22; output++) probe.passed();
  show(probe, all.slice(22), talking(0));
  expect(probe.seen().facelessShare).toBe(0.2);
});

test('faces larger than the generated ones are counted, and the largest factor is reported', () => {
  const probe = newProbe();
  expect(probe.seen()).toMatchObject({ enlargedShare: 0, largestEnlargement: null });
  for (const enlargement of [0.4, 1, 1.5, 2.25]) probe.taken(enlargement);
  expect(probe.seen()).toMatchObject({ enlargedShare: 2 / FRAMES, largestEnlargement: 2.25 });
});

test('a face with a hard border has a seam, and its changed skin is compared', () => {
  const probe = newProbe();
  show(probe, all, () => 0);
  const { seamLevels, skinPsnrDb } = probe.seen();
  expect(seamLevels).toBe(128 - CLOSED);
  expect(skinPsnrDb).toBeCloseTo(20 * Math.log10(255 / (128 - CLOSED)), 6);
});

test('the stretch with the most speech is chosen', () => {
  expect(loudestStretch([0, 0, 1, 5, 4, 0, 1], Array(7).fill(true), 2)).toEqual({ from: 3, to: 5 });
});

test('speech over frames without a face does not count', () => {
  const shown = [true, true, true, false, false, true, true];
  expect(loudestStretch([0, 2, 1, 5, 4, 0, 1], shown, 2)).toEqual({ from: 1, to: 3 });
});

test('an output shorter than the stretch is taken whole', () => {
  expect(loudestStretch([1, 2], [true, true], 75)).toEqual({ from: 0, to: 2 });
});

const SEEN: SeenQuality = {
  ...{ seamLevels: 2, skinPsnrDb: 40, facelessShare: 0.1, enlargedShare: 0, largestEnlargement: 0.5 },
  sampledFrames: 75,
};
const IN_SYNC = { syncCorrelation: 0.8, syncLagFrames: 1 };
const OUT_OF_SYNC = { syncCorrelation: null, syncLagFrames: null };
const load = (): Promise<LoadedAnalyzer> => Promise.resolve(analyzer);
const frame = new Uint8Array(1);

function probeThat(does: Partial<QualityProbe>) {
  const looks: string[] = [];
  const probe: QualityProbe = {
    passed: () => void looks.push('passed'),
    taken: (enlargement) => void looks.push(`taken ${enlargement}`),
    before: (_, output) => void looks.push(`before ${output}`),
    after: (_, output) => void looks.push(`after ${output}`),
    seen: () => SEEN,
    sync: () => Promise.resolve(IN_SYNC),
    ...does,
  };
  return { probe: createUnfailingProbe(probe), looks };
}

test('a working probe receives every call, and its measurements are passed on', async () => {
  const { probe, looks } = probeThat({});
  probe.taken(0.5);
  probe.before(frame, 7);
  probe.after(frame, 7);
  probe.passed();
  expect(looks).toEqual(['taken 0.5', 'before 7', 'after 7', 'passed']);
  expect(await probe.judge(load)).toEqual({ ...IN_SYNC, ...SEEN, problem: null });
});

test('failing networks cost only the sync', async () => {
  const { probe } = probeThat({ sync: () => Promise.reject(new Error('out of memory')) });
  expect(await probe.judge(load)).toEqual({ ...OUT_OF_SYNC, ...SEEN, problem: 'out of memory' });
});

test.each([
  ['run_failed', true],
  ['load_failed', true],
  ['out_of_memory', false],
] as const)('tells of a graph that failed, %s, for a reason other than memory: %s', async (reason, told) => {
  const { probe } = probeThat({ sync: () => Promise.reject(new SessionError(reason, 'no')) });
  expect(probe.graphFailed()).toBe(false);
  await probe.judge(load);
  expect(probe.graphFailed()).toBe(told);
});

test('so does an analyzer that cannot be loaded', async () => {
  const { probe } = probeThat({});
  const judged = await probe.judge(() => Promise.reject(new Error('no such file')));
  expect(judged).toEqual({ ...OUT_OF_SYNC, ...SEEN, problem: 'no such file' });
});

test.each(['before', 'after'] as const)(
  'an observation that fails %s a face was written is reported, fails no frame, and is the last one',
  async (look) => {
    const fails = (): never => {
      throw new RangeError('beyond the picture');
    };
    const { probe, looks } = probeThat({ [look]: fails });
    for (const output of [1, 2]) {
      probe.before(frame, output);
      probe.after(frame, output);
    }
    expect(looks).toEqual(look === 'before' ? [] : ['before 1']);
    expect(await probe.judge(load)).toEqual({ ...IN_SYNC, ...SEEN, problem: 'beyond the picture' });
  },
);
