/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAnalyzerPack } from '@lipsync/builtin-packs';
import { type Clock, constantClock } from '@lipsync/domain';
import {
  type FaceTrack,
  landmark,
  landmarkCenter,
  mouthOpening,
  mouthOpenings,
  openPackFor,
} from '@lipsync/engines';
import { createPatchSampler, type RgbPicture } from '@lipsync/kernels';
import { inspect, openClipReader, resolveBinaries } from '@lipsync/media';
import { modelPath } from '@lipsync/model-pack';
import { type LoadedGraph, loadGraph } from '../sessions/ort-sessions';
import { type AnalyzedFrame, analyzeFaces, type LoadedAnalyzer } from './analyze-faces';
import { blankPicture } from './face-detector';

const SAMPLE = join(__dirname, '../../../../../samples/face.mp4');
const SIDE = 320;

const samplePatch = createPatchSampler();

/** Where the sample's face is when the head rests, as fractions of the picture. It sways by less than 0.05. */
const EYES = { x: 0.5, y: 0.4, distance: 0.15 };
const SWAY = 0.025;

// Dozens of frames go through two networks, which takes time on a busy machine.

describe('analyzeFaces', () => {
  let folder: string;
  let analyzer: LoadedAnalyzer;
  let release: () => Promise<void>;
  let sample: RgbPicture[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'analyzer-'));
    ({ analyzer, release } = await loadAnalyzer(join(folder, 'pack')));
    sample = await readSample(32);
  });
  afterAll(async () => {
    await release();
    await rm(folder, { recursive: true });
  });

  async function analyze(
    pictures: readonly RgbPicture[],
    source = { width: SIDE, height: SIDE },
  ): Promise<FaceTrack> {
    return trackOf({ frames: each(pictures), clockOf, source, analyzer });
  }

  test('the sample face is found in every frame, eyes and closed mouth where they were painted', async () => {
    const track = await analyze(sample);

    expect(track.frames).toBe(32);
    expect([...track.found]).toEqual(Array.from({ length: 32 }, () => 1));
    expect([...track.cuts].indexOf(1, 1)).toBe(-1);
    for (let frame = 0; frame < track.frames; frame++) {
      const points = landmarksOf(track, frame);
      const left = landmarkCenter(points, [36, 42]);
      const right = landmarkCenter(points, [42, 48]);
      expect(Math.abs((left.x + right.x) / 2 / SIDE - EYES.x)).toBeLessThan(SWAY);
      expect(Math.abs((left.y + right.y) / 2 / SIDE - EYES.y)).toBeLessThan(SWAY);
      expect(Math.abs((right.x - left.x) / SIDE / EYES.distance - 1)).toBeLessThan(0.08);
      expect(mouthOpening(points)).toBeLessThan(0.08);
    }
  });

  test('coordinates are those of the source, whatever size is analyzed', async () => {
    const small = await analyze(sample.slice(0, 3));
    const large = await analyze(sample.slice(0, 3), { width: SIDE * 4, height: SIDE * 4 });

    expect(large.width).toBe(SIDE * 4);
    large.landmarks.forEach((value, i) => expect(value / 4).toBeCloseTo(small.landmarks[i] ?? NaN, 2));
  });

  test('a tilted head is found, and its landmarks are tilted by as much', async () => {
    const [picture] = sample;
    if (picture === undefined) throw new Error('the sample has no frames');
    for (const degrees of [-40, 25]) {
      const turned = blankPicture(SIDE, SIDE);
      const angle = (-degrees * Math.PI) / 180;
      samplePatch(picture, { x: SIDE / 2, y: SIDE / 2, side: SIDE, angle }, turned);
      const [upright, tilted] = [await analyze([picture]), await analyze([turned])];

      expect(tilted.found[0]).toBe(1);
      expect(tiltOf(tilted) - tiltOf(upright)).toBeGreaterThan(degrees - 4);
      expect(tiltOf(tilted) - tiltOf(upright)).toBeLessThan(degrees + 4);
    }
  });

  test('a mouth is not found while a cup is before it', async () => {
    const drinking = sample.map((picture, frame) => (frame >= 12 && frame < 20 ? withCup(picture) : picture));
    const { found, covers } = await analyze(drinking);

    expect([...found].slice(12, 20)).toEqual(Array.from({ length: 8 }, () => 0));
    expect([...found].slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 1));
    expect([...found].slice(23)).toEqual(Array.from({ length: 9 }, () => 1));
    expect(covers.size).toBe(0);
  });

  test('frames without a face are marked so and carry zeros', async () => {
    const wall = sample.slice(0, 6).map((picture) => part(picture, { x: 45, y: 60, side: 80 }));
    const track = await analyze(wall);

    expect([...track.found]).toEqual([0, 0, 0, 0, 0, 0]);
    expect(track.landmarks.every((value) => value === 0)).toBe(true);
  });

  test('a cut is seen, and no smoothing reaches across it', async () => {
    const before = sample.slice(0, 12);
    const after = sample.slice(20, 32).map((picture) => elsewhere(picture));
    const [whole, first, second] = [
      await analyze([...before, ...after]),
      await analyze(before),
      await analyze(after),
    ];

    expect([...whole.cuts.keys()].filter((frame) => whole.cuts[frame] === 1)).toEqual([0, 12]);
    expect(whole.landmarks.slice(0, 12 * 136)).toEqual(first.landmarks);
    expect(whole.landmarks.slice(12 * 136)).toEqual(second.landmarks);
  });

  test('a face that stays is followed on when a larger one appears beside it in most of the picture', async () => {
    const call = sample
      .slice(0, 24)
      .map((picture, i) => withPanel(picture, i < 12 ? blankPicture(SIDE, SIDE) : picture));
    const track = await analyze(call, { width: SIDE * 3, height: SIDE });

    expect([...track.found]).toEqual(Array.from({ length: 24 }, () => 1));
    expect([...track.cuts].indexOf(1, 1)).toBe(-1);
    for (let frame = 0; frame < 24; frame++) {
      expect(landmark(landmarksOf(track, frame), 30).x).toBeLessThan(SIDE);
    }
    const late = await analyze(call.slice(12, 13), { width: SIDE * 3, height: SIDE });
    expect(landmark(landmarksOf(late, 0), 30).x).toBeGreaterThan(SIDE);
  });

  test('of two faces the larger one is followed, and kept when the other outgrows it', async () => {
    const grown = Array.from({ length: 12 }, (_, i) => {
      const picture = sample[i];
      if (picture === undefined) throw new Error('the sample is too short');
      return sideBySide(picture, picture, 0.6 + 0.1 * i);
    });
    const track = await analyze(grown, { width: SIDE * 2, height: SIDE });

    expect([...track.found]).toEqual(Array.from({ length: 12 }, () => 1));
    for (let frame = 0; frame < 12; frame++) {
      expect(landmark(landmarksOf(track, frame), 30).x).toBeLessThan(SIDE);
    }
    const restarted = await analyze(grown.slice(-1), { width: SIDE * 2, height: SIDE });
    expect(landmark(landmarksOf(restarted, 0), 30).x).toBeGreaterThan(SIDE);
  });

  test('of two alike faces the one that speaks is in the track, with a look of its own, and the turn is a cut', async () => {
    const talk = await readSample(75);
    const talking = talk.slice(25);
    const alone = await analyze(talking);
    const openings = mouthOpenings(alone).map((opening) => opening ?? 0);
    const seconds = talking.length / 25;
    // What is heard is what the lips show, twice.
    const jaw = Float32Array.from({ length: 2 * talking.length * 2 }, (_, step) =>
      Math.min(1, 4 * (openings[Math.floor(step / 2) % talking.length] ?? 0)),
    );
    const silent = jaw.map(() => 0);
    const cues = { jaw, closure: silent, rounding: silent, spreading: silent, dental: silent };
    const shut = talk.slice(0, 25).concat(talk.slice(0, 25).reverse());
    const clip = [
      ...talking.map((picture, i) => sideBySide(picture, shut[i] ?? picture, 1.15)),
      ...talking.map((picture, i) => sideBySide(shut[i] ?? picture, picture, 1.15)),
    ];
    let heard = 0;
    const { track } = await analyzeFaces({
      frames: each(clip),
      clockOf,
      source: { width: SIDE * 2, height: SIDE },
      analyzer,
      listen: async () => {
        heard++;
        return { cues, speech: [{ start: 0, end: 2 * seconds }] };
      },
    });
    expect(heard).toBe(1);
    const turn = [...track.cuts].indexOf(1, 1);
    expect(Math.abs(turn / 25 - seconds)).toBeLessThan(0.5);
    expect([...track.cuts].indexOf(1, turn + 1)).toBe(-1);
    for (let frame = 0; frame < track.frames; frame++) {
      expect(track.found[frame]).toBe(1);
      expect(landmark(landmarksOf(track, frame), 30).x > SIDE).toBe(frame >= turn);
    }
    expect(new Set(track.looks.slice(0, turn)).size).toBe(1);
    expect(new Set(track.looks.slice(turn))).not.toEqual(new Set(track.looks.slice(0, turn)));
  });

  test('a face of 36 pixels is found in every frame, where the large one was', async () => {
    const scale = 36 / 102;
    const small = sample.slice(0, 20).map((picture) => {
      const out = blankPicture(Math.round(SIDE * scale), Math.round(SIDE * scale));
      samplePatch(picture, { x: SIDE / 2, y: SIDE / 2, side: SIDE, angle: 0 }, out);
      return out;
    });
    const [track, large] = [await analyze(small), await analyze(sample.slice(0, 20))];

    expect([...track.found]).toEqual(Array.from({ length: 20 }, () => 1));
    track.landmarks.forEach((value, i) =>
      expect(Math.abs(value - (large.landmarks[i] ?? NaN))).toBeLessThan(8),
    );
  });

  test.each([
    ['fills the picture', { x: 166, y: 160, side: 125 }],
    ['is cut off by the border', { x: 210, y: 175, side: 200 }],
  ])('a face that %s is found in every frame, where it is', async (_, detail) => {
    const frames = sample.slice(0, 6);
    const [close, far] = [
      await analyze(frames.map((picture) => part(picture, detail))),
      await analyze(frames),
    ];

    expect([...close.found]).toEqual([1, 1, 1, 1, 1, 1]);
    const enlarged = SIDE / detail.side;
    for (let frame = 0; frame < frames.length; frame++) {
      const [nose, seen] = [far, close].map((track) => landmark(landmarksOf(track, frame), 30));
      expect(
        Math.abs((seen?.x ?? NaN) / enlarged + detail.x - detail.side / 2 - (nose?.x ?? NaN)),
      ).toBeLessThan(4);
      expect(
        Math.abs((seen?.y ?? NaN) / enlarged + detail.y - detail.side / 2 - (nose?.y ?? NaN)),
      ).toBeLessThan(4);
    }
  });

  test('frames that show the picture before are not looked at, and have its face', async () => {
    const [first, , , second] = sample;
    const wall = part(sample[0] ?? blankPicture(SIDE, SIDE), { x: 45, y: 60, side: 80 });
    const pictures = [first, wall, wall, second, wall, wall].filter((picture) => picture !== undefined);
    const track = await trackOf({
      frames: each(pictures, (frame) => frame % 3 > 0),
      clockOf,
      source: { width: SIDE, height: SIDE },
      analyzer,
    });
    expect([...track.held]).toEqual([0, 1, 1, 0, 1, 1]);
    expect([...track.found]).toEqual([1, 1, 1, 1, 1, 1]);
    for (const frame of [1, 2, 4, 5])
      expect(landmarksOf(track, frame)).toEqual(landmarksOf(track, frame - 1));
  });

  test('at 60 pictures a second every second one is looked at, and all have the face, up to a cut', async () => {
    let looks = 0;
    const counting: LoadedAnalyzer = {
      ...analyzer,
      run(role, feeds, take) {
        if (role === 'landmarks68') looks++;
        return analyzer.run(role, feeds, take);
      },
    };
    const cut = 14;
    const pictures = sample.slice(0, 24).map((picture, i) => (i < cut ? picture : elsewhere(picture)));
    const sixtieths = (frames: number): Clock => constantClock({ num: 60, den: 1 }, frames);
    const track = await trackOf({
      frames: each(pictures, undefined, 60),
      clockOf: sixtieths,
      source: { width: SIDE, height: SIDE },
      analyzer: counting,
    });
    expect([...track.found]).toEqual(Array.from({ length: 24 }, () => 1));
    expect([...track.cuts.keys()].filter((frame) => track.cuts[frame] === 1)).toEqual([0, cut]);
    expect(looks).toBeLessThan(20);
    const whole = await analyze(pictures);
    for (let frame = 0; frame < 24; frame++) {
      const [nose, seen] = [whole, track].map((one) => landmark(landmarksOf(one, frame), 30));
      expect(
        Math.hypot((seen?.x ?? NaN) - (nose?.x ?? NaN), (seen?.y ?? NaN) - (nose?.y ?? NaN)),
      ).toBeLessThan(1);
    }
  });

  test.each([12, 13])(
    'at 60 pictures a second a face that jumps in picture %i is there from it on',
    async (jump) => {
      const pictures = sample
        .slice(0, 20)
        .map((picture, i) => (i < jump ? picture : part(picture, { x: 200, y: SIDE / 2, side: SIDE })));
      const track = await trackOf({
        frames: each(pictures, undefined, 60),
        clockOf: (frames) => constantClock({ num: 60, den: 1 }, frames),
        source: { width: SIDE, height: SIDE },
        analyzer,
      });
      expect([...track.cuts.keys()].filter((frame) => track.cuts[frame] === 1)).toEqual([0, jump]);
      const noses = Array.from({ length: 20 }, (_, frame) => landmark(landmarksOf(track, frame), 30).x);
      noses.forEach((x, frame) => expect(x > 140).toBe(frame < jump));
    },
  );

  test.each([
    [3 / 25, { frames: 3, stopped: true }],
    [4 / 25, { frames: 4, stopped: false }],
  ])(
    'a clip of four frames is analyzed up to second %d, and what is left is told',
    async (untilSeconds, expected) => {
      const { track, stopped } = await analyzeFaces({
        frames: each(sample.slice(0, 4)),
        untilSeconds,
        clockOf,
        source: { width: SIDE, height: SIDE },
        analyzer,
        listen: async () => null,
      });
      expect({ frames: track.frames, stopped }).toEqual(expected);
    },
  );

  test('an error thrown between two frames stops the analysis', async () => {
    const stop = new Error('cancelled');
    const analysis = trackOf({
      frames: each(sample),
      clockOf,
      source: { width: SIDE, height: SIDE },
      analyzer,
      onFrame: (framesDone) => {
        if (framesDone === 3) throw stop;
      },
    });
    await expect(analysis).rejects.toBe(stop);
  });
});

/** The track of a clip without a sound. */
async function trackOf(input: Omit<Parameters<typeof analyzeFaces>[0], 'listen'>): Promise<FaceTrack> {
  return (await analyzeFaces({ ...input, listen: async () => null })).track;
}

async function loadAnalyzer(
  dir: string,
): Promise<{ analyzer: LoadedAnalyzer; release: () => Promise<void> }> {
  await buildAnalyzerPack(dir);
  const pack = await openPackFor('analyzer', dir);
  const graphs = new Map<string, LoadedGraph>();
  for (const [role, entry] of Object.entries(pack.manifest.roles)) {
    graphs.set(role, await loadGraph(modelPath(pack, entry), {}));
  }
  return {
    analyzer: {
      params: pack.manifest.params,
      version: 'test',
      run: async (role, feeds) => {
        const graph = graphs.get(role);
        if (graph === undefined) throw new Error(`no role ${role}`);
        return { outputs: await graph.run(feeds), feeds };
      },
    },
    release: async () => {
      for (const graph of graphs.values()) await graph.release();
    },
  };
}

async function readSample(count: number): Promise<RgbPicture[]> {
  const binaries = await resolveBinaries(process.env);
  const { video } = await inspect(binaries, SAMPLE);
  if (video === undefined) throw new Error('the sample has no video');
  const layout = { format: 'rgb24', width: SIDE, height: SIDE } as const;
  const reader = openClipReader(binaries, SAMPLE, video, { layout, deadlineMs: 60_000 });
  const pictures: RgbPicture[] = [];
  while (pictures.length < count) {
    const picture = blankPicture(SIDE, SIDE);
    if (!(await reader.readInto(picture.data))) break;
    pictures.push(picture);
  }
  await reader.close();
  return pictures;
}

async function* each(
  pictures: readonly RgbPicture[],
  isHeld: (frame: number) => boolean = () => false,
  rate = 25,
): AsyncGenerator<AnalyzedFrame> {
  for (const [frame, picture] of pictures.entries()) {
    yield { picture, seconds: frame / rate, held: isHeld(frame) };
  }
}

const clockOf = (frames: number): Clock => constantClock({ num: 25, den: 1 }, frames);

const landmarksOf = (track: FaceTrack, frame: number): Float32Array =>
  track.landmarks.subarray(frame * 136, (frame + 1) * 136);

/** Slope of the eye line of the first frame, degrees. */
function tiltOf(track: FaceTrack): number {
  const points = landmarksOf(track, 0);
  const left = landmarkCenter(points, [36, 42]);
  const right = landmarkCenter(points, [42, 48]);
  return (Math.atan2(right.y - left.y, right.x - left.x) * 180) / Math.PI;
}

/** The picture with something white before the mouth and below it. */
function withCup({ width, height, data }: RgbPicture): RgbPicture {
  const out = { width, height, data: data.slice() };
  const [left, right] = [EYES.x - 0.6 * EYES.distance, EYES.x + 0.6 * EYES.distance];
  for (let y = Math.round((EYES.y + 0.9 * EYES.distance) * SIDE); y < SIDE; y++)
    out.data.fill(235, (y * SIDE + Math.round(left * SIDE)) * 3, (y * SIDE + Math.round(right * SIDE)) * 3);
  return out;
}

/** A square crop of a picture, enlarged to the usual size. */
function part(picture: RgbPicture, { x, y, side }: { x: number; y: number; side: number }): RgbPicture {
  const out = blankPicture(SIDE, SIDE);
  samplePatch(picture, { x, y, side, angle: 0 }, out);
  return out;
}

/** The picture with the face further down and to the right, and black on the borders that this exposes. */
function elsewhere(picture: RgbPicture): RgbPicture {
  return part(picture, { x: 40, y: 60, side: SIDE * 1.5 });
}

/** A picture extended to twice its width, with another one, enlarged and cropped, on its right. */
function withPanel(picture: RgbPicture, other: RgbPicture): RgbPicture {
  const out = { width: SIDE * 3, height: SIDE, data: new Uint8Array(SIDE * SIDE * 9) };
  const panel = blankPicture(SIDE * 2, SIDE);
  samplePatch(other, { x: SIDE / 2, y: SIDE / 2, side: SIDE, angle: 0 }, panel);
  for (let y = 0; y < SIDE; y++) {
    out.data.set(picture.data.subarray(y * SIDE * 3, (y + 1) * SIDE * 3), y * SIDE * 9);
    out.data.set(panel.data.subarray(y * SIDE * 6, (y + 1) * SIDE * 6), y * SIDE * 9 + SIDE * 3);
  }
  return out;
}

/** Two pictures next to each other, the right one scaled about its face. */
function sideBySide(left: RgbPicture, right: RgbPicture, rightScale: number): RgbPicture {
  const out = { width: SIDE * 2, height: SIDE, data: new Uint8Array(SIDE * SIDE * 6) };
  [left, right].forEach((picture, i) => {
    const scale = i === 0 ? 1 : rightScale;
    const half = part(picture, { x: SIDE / 2, y: SIDE * 0.48, side: SIDE / scale });
    for (let y = 0; y < SIDE; y++) {
      out.data.set(half.data.subarray(y * SIDE * 3, (y + 1) * SIDE * 3), (y * 2 + i) * SIDE * 3);
    }
  });
  return out;
}
