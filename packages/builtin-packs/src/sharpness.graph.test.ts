import { type Engine, ENGINES } from '@lipsync/contract';
import { alternation, type FaceTrack, noFeatures, openEngine, recordingOf } from '@lipsync/engines';
import { clockOf, syntheticTrack, upTo } from '@lipsync/engines/test';
import { type TestPacks, testPacks } from '@lipsync/engines/test/test-sessions';
import { type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { WRITERS } from './builtin-packs';

const FORMAT: PictureFormat = {
  width: 640,
  height: 560,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
};
const { bytes } = pictureLayout(FORMAT);
/** A face of 400 pixels. */
const BOX = { x1: 120, y1: 60, x2: 520, y2: 500 };
/** Skin left and right of the mouth, which every engine generates, in fractions of the box. */
const BESIDE_MOUTH = [0.18, 0.68].map((x) => ({ x, y: 0.62, width: 0.14, height: 0.16 }));

/** Octaves of noise whose amplitude grows with their size: somewhat finer than skin in ordinary video. */
function texturedPicture(): Uint8Array<ArrayBuffer> {
  const { width, height } = FORMAT;
  const picture = new Uint8Array(bytes).fill(128);
  const levels = new Float32Array(width * height).fill(125);
  let state = 12345;
  const noise = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  for (let octave = 0; octave < 7; octave++) {
    const step = 2 ** octave;
    const columns = Math.ceil(width / step) + 2;
    const rows = Math.ceil(height / step) + 2;
    const grid = Float32Array.from({ length: columns * rows }, noise);
    const amplitude = 5 * step ** 0.75;
    for (let i = 0; i < levels.length; i++) {
      const [x, y] = [(i % width) / step, Math.floor(i / width) / step];
      const at = Math.floor(y) * columns + Math.floor(x);
      const [across, down] = [eased(x % 1), eased(y % 1)];
      const line = (from: number): number =>
        (grid[from] ?? 0) * (1 - across) + (grid[from + 1] ?? 0) * across;
      levels[i] = (levels[i] ?? 0) + amplitude * (line(at) * (1 - down) + line(at + columns) * down);
    }
  }
  picture.set(levels.map((level) => Math.min(235, Math.max(16, Math.round(level)))));
  return picture;
}

const eased = (t: number): number => t * t * (3 - 2 * t);

/** Gradient energy beside the mouth of a face that is so many pixels further right. */
function sharpness(picture: Uint8Array, right = 0): number {
  const { width } = FORMAT;
  const [faceWidth, faceHeight] = [BOX.x2 - BOX.x1, BOX.y2 - BOX.y1];
  let energy = 0;
  for (const part of BESIDE_MOUTH) {
    const [left, top] = [BOX.x1 + right + part.x * faceWidth, BOX.y1 + part.y * faceHeight].map(Math.round);
    for (let y = top ?? 0; y < (top ?? 0) + part.height * faceHeight; y++)
      for (let x = left ?? 0; x < (left ?? 0) + part.width * faceWidth; x++) {
        const i = y * width + x;
        const across = (picture[i + 1] ?? 0) - (picture[i - 1] ?? 0);
        const down = (picture[i + width] ?? 0) - (picture[i - width] ?? 0);
        energy += across * across + down * down;
      }
  }
  return energy;
}

const SOURCE = texturedPicture();

/** The picture and everything in it, so many pixels further right. */
function movedRight(pixels: number): Uint8Array<ArrayBuffer> {
  const { width, height } = FORMAT;
  return SOURCE.map((level, i) => {
    if (i >= width * height) return level;
    const from = Math.max(0, Math.min(width - 1, (i % width) - pixels));
    return SOURCE[i - (i % width) + from] ?? level;
  });
}

/** How far right the face is in a frame: it shakes twice a second, by a tenth of its width. */
const shaken = (frame: number): number => Math.round(40 * Math.sin((4 * Math.PI * frame) / 50));

describe('a face of 400 pixels keeps its sharpness with the built-in pack', () => {
  let packs: TestPacks;
  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());

  /** Renders frames of a face that is at these places. */
  async function render(name: Engine, fps: number, places: readonly number[]): Promise<Uint8Array[]> {
    const opened = await openEngine(name, await WRITERS[name](packs.at(name)));
    const engine = opened.create(await packs.load(opened.pack));
    const [frames, sources] = [places.map(movedRight), upTo(places.length)];
    const still = syntheticTrack({ ...FORMAT, frames: places.length, box: BOX });
    const clock = clockOf(sources, fps);
    const track: FaceTrack = {
      ...still,
      clock,
      landmarks: still.landmarks.map(
        (value, i) => value + (i % 2 === 0 ? (places[Math.floor(i / 136)] ?? 0) : 0),
      ),
    };
    let looks = 0;
    const clip = engine.open({
      ...{ track, mouths: [], sources, clock, format: FORMAT, features: noFeatures },
      audio: recordingOf(new Float32Array((places.length * 16_000) / fps)),
      signal: new AbortController().signal,
      openFrames: () => ({
        frameBytes: bytes,
        readInto: async (frame) => {
          frame.set(frames[looks++] ?? SOURCE);
          return true;
        },
        close: async () => undefined,
      }),
    });
    for (let output = 0; output < frames.length;) {
      const batch = clip.newBatch();
      const first = output;
      while (!batch.full && output < frames.length) batch.take(frames[output] ?? SOURCE, output++);
      const faces = await batch.infer();
      frames.slice(first, output).forEach((frame, slot) => faces.put(slot, frame));
      faces.recycle();
    }
    await clip.close();
    return frames;
  }

  test.each(ENGINES)('of %s', async (name: Engine) => {
    const [picture = SOURCE] = await render(name, 25, [0, 0]);
    expect(picture).not.toEqual(SOURCE);
    expect(sharpness(picture) / sharpness(SOURCE)).toBeGreaterThan(0.85);
    expect(sharpness(picture) / sharpness(SOURCE)).toBeLessThan(1.1);
  });

  test.each(['latentsync', 'highsync'] as const)(
    'of %s, and a shaken one does not flicker at 50 frames per second, where every second face is drawn between two',
    async (name) => {
      const places = upTo(8).map(shaken);
      const pictures = await render(name, 50, places);
      const kept = pictures.map((picture, i) => Math.sqrt(sharpness(picture, places[i])));
      // A mean of two crops has 0.8.
      expect(alternation(kept)).toBeGreaterThan(0.9);
    },
  );
});
