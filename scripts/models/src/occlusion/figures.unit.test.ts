import { coverOf, type FaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import {
  addedStep,
  changedBlocks,
  freeFrames,
  keptPixels,
  type Luma,
  shownIn,
  withheldPart,
} from './figures';

const SIDE = 32;

const picture = (level: (x: number, y: number) => number): Luma => ({
  width: SIDE,
  height: SIDE,
  data: Uint8Array.from({ length: SIDE ** 2 }, (_, at) => level(at % SIDE, Math.floor(at / SIDE))),
});
const source = picture(() => 100);
/** The encoder's noise. */
const plain = picture((x, y) => 100 + ((x + y) % 3) - 1);
const painted = picture((x, y) => (x < 16 ? 130 : 100 + ((x * y) % 3) - 1));
const everywhere = new Uint8Array(SIDE ** 2).fill(255);

test('a block is changed where a render differs by more than the encoder changes it by itself', () => {
  expect([...changedBlocks({ source, plain, rendered: painted }).slice(0, 8)]).toEqual([
    1, 1, 0, 0, 1, 1, 0, 0,
  ]);
  expect(changedBlocks({ source, plain, rendered: plain })).toEqual(new Uint8Array(16));
});

test('pixels of an occluder are kept where nothing was painted over them, counted inside and outside of what an engine changes', () => {
  const changed = Uint8Array.from({ length: 16 }, (_, block) => Number(block < 4));
  const kept = keptPixels({ source, plain, rendered: painted }, everywhere, changed);
  expect(kept.inside).toEqual({ done: 128, cases: 256 });
  expect(kept.outside).toEqual({ done: 384, cases: 768 });
  const nowhere = keptPixels({ source, plain, rendered: painted }, new Uint8Array(SIDE ** 2), changed);
  expect([nowhere.inside.cases, nowhere.outside.cases]).toEqual([0, 0]);
});

test('a step is how much the generated part changes between frames, not how much the filmed picture does', () => {
  const darker = picture(() => 40);
  const before = { source, plain, rendered: picture(() => 120) };
  const now = { source: darker, plain, rendered: picture(() => 70) };
  const box = { x1: 0, y1: 0, x2: SIDE, y2: SIDE };
  expect(addedStep(before, now, box, () => true)).toBe(10);
  expect(addedStep(before, now, box, (at) => at < 100)).toBeNull();
});

describe('of a track', () => {
  const face = { frames: 50, box: { x1: 100, y1: 100, x2: 200, y2: 200 }, width: 400, height: 400 };

  test('a frame counts as free 0.3 s after a cover and before the next', () => {
    const free = freeFrames(
      syntheticTrack(face),
      Array.from({ length: 50 }, (_, frame) => frame === 20),
    );
    const near = free.flatMap((is, frame) => (is ? [] : frame));
    expect([near.length, near[0], near.at(-1)]).toEqual([15, 13, 27]);
  });

  test('what is withheld is the covered part of the lower face, all of it while a mouth is hidden, and what has faded', () => {
    const clean = syntheticTrack(face);
    const part = (change: Partial<FaceTrack>): number => withheldPart({ ...clean, ...change }, 0);
    expect(part({})).toBe(0);
    expect(part({ covers: new Map([[0, coverOf(() => true)]]) })).toBe(1);
    const half = part({ covers: new Map([[0, coverOf((column) => column < 32)]]) });
    expect(Math.abs(half - 0.5)).toBeLessThan(0.02);
    expect(part({ shown: new Uint8Array(50).fill(51) })).toBeCloseTo(0.8, 6);
    const hidden = { found: new Uint8Array(50), shown: new Uint8Array(50) };
    expect([part(hidden), shownIn({ ...clean, ...hidden }, 0)]).toEqual([1, 0]);
    expect(part({ found: new Uint8Array(50) })).toBe(0);
  });
});
