import { secondsAt } from '@lipsync/domain';
import {
  COVER_SIDE,
  coverTransform,
  type FaceTrack,
  isCovered,
  landmark,
  LANDMARK_VALUES,
} from '@lipsync/engines';
import { type Box } from '../outside-face';

/** The brightness of one frame, in levels. */
export interface Luma {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A frame of a clip as it was filmed, as it comes out of the service's encoder untouched, and as it was rendered. */
export interface Versions {
  readonly source: Luma;
  readonly plain: Luma;
  readonly rendered: Luma;
}

/** Side of the squares in which pictures are compared, as encoders do. */
const BLOCK = 8;

/** Mean squared error at 45 dB. */
const KEPT_ERROR = 255 ** 2 / 10 ** 4.5;

/**
 * An encoder spends its bits as it likes: what it does to the untouched clip may happen twice over, in brightness levels
 * squared, before it counts.
 */
const keptUpTo = (noise: number): number => KEPT_ERROR + 2 * noise;

/** The blocks of a frame that an engine changes, 1 each, row by row. */
export function changedBlocks({ source, plain, rendered }: Versions): Uint8Array {
  return Uint8Array.from(blocksOf(source), (box) => {
    const noise = errorIn(source, plain, box, () => true).mean;
    return errorIn(source, rendered, box, () => true).mean > keptUpTo(noise) ? 1 : 0;
  });
}

function blocksOf({ width, height }: Luma): Box[] {
  const [columns, rows] = [Math.ceil(width / BLOCK), Math.ceil(height / BLOCK)];
  return Array.from({ length: columns * rows }, (_, i) => {
    const [x1, y1] = [BLOCK * (i % columns), BLOCK * Math.floor(i / columns)];
    return { x1, y1, x2: Math.min(width, x1 + BLOCK), y2: Math.min(height, y1 + BLOCK) };
  });
}

function errorIn(a: Luma, b: Luma, { x1, y1, x2, y2 }: Box, counts: (at: number) => boolean) {
  let [squares, pixels] = [0, 0];
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) {
      const at = y * a.width + x;
      if (!counts(at)) continue;
      squares += ((a.data[at] ?? 0) - (b.data[at] ?? 0)) ** 2;
      pixels++;
    }
  return { mean: squares / Math.max(1, pixels), pixels };
}

/** A share as counts, so that shares of several frames can be added. */
export interface Share {
  readonly done: number;
  readonly cases: number;
}

/** Fewer pixels of an occluder in a block are its edge. */
const FEWEST = 8;

/**
 * Of the pixels that mostly show the occluder, how many are kept: in blocks whose error is within 45 dB and the encoder's
 * noise. In the blocks that the engine changes where nothing is before the face, and in all others.
 */
export function keptPixels({ source, plain, rendered }: Versions, alpha: Uint8Array, changed: Uint8Array) {
  const inside = { done: 0, cases: 0 };
  const outside = { done: 0, cases: 0 };
  const occludes = (at: number): boolean => (alpha[at] ?? 0) > 127;
  for (const [i, box] of blocksOf(source).entries()) {
    const { mean, pixels } = errorIn(source, rendered, box, occludes);
    if (pixels < FEWEST) continue;
    const share = changed[i] === 1 ? inside : outside;
    share.cases += pixels;
    if (mean <= keptUpTo(errorIn(source, plain, box, occludes).mean)) share.done += pixels;
  }
  return { inside, outside };
}

/**
 * How much what was added to the mouth's box changes from one frame to the next, in levels, where nothing is before it in
 * either; null if almost all of it is covered.
 */
export function addedStep(
  before: Versions,
  now: Versions,
  box: Box,
  isFree: (at: number) => boolean,
): number | null {
  let [steps, pixels] = [0, 0];
  const added = ({ source, rendered }: Versions, at: number): number =>
    (rendered.data[at] ?? 0) - (source.data[at] ?? 0);
  for (let y = box.y1; y < box.y2; y++)
    for (let x = box.x1; x < box.x2; x++) {
      const at = y * now.source.width + x;
      if (!isFree(at)) continue;
      steps += Math.abs(added(now, at) - added(before, at));
      pixels++;
    }
  return pixels < (box.x2 - box.x1) * (box.y2 - box.y1) * LEAST_FREE ? null : steps / pixels;
}

const LEAST_FREE = 0.3;

/** So long before and after its cover a mouth need not be generated. */
const MARGIN_SECONDS = 0.3;

/** Per frame, whether nothing was before the mouth for a while, and will not be. */
export function freeFrames(track: FaceTrack, mouthCovered: readonly boolean[]): boolean[] {
  const seconds = mouthCovered.map((_, frame) => secondsAt(track.clock, frame));
  const covered = seconds.filter((_, frame) => mouthCovered[frame]);
  return seconds.map((at) => covered.every((other) => Math.abs(other - at) > MARGIN_SECONDS + 1e-9));
}

/** How much of the generated mouth is shown in a frame. */
export const shownIn = ({ found, shown }: FaceTrack, frame: number): number =>
  found[frame] === 1 ? (shown[frame] ?? 0) / 255 : 0;

const JAW = 17;

/** The part of a face below its eyes that is not generated in a frame, though nothing is before it. */
export function withheldPart(track: FaceTrack, frame: number): number {
  if (track.found[frame] !== 1) return track.shown[frame] === 0 ? 1 : 0;
  const cover = track.covers.get(frame);
  if (cover === undefined) return 1 - shownIn(track, frame);
  const points = track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
  const { a, b, c, d, e, f } = coverTransform(points);
  const jaw = Array.from({ length: JAW }, (_, i) => landmark(points, i)).map(({ x, y }) => ({
    column: a * x + b * y + c,
    row: d * x + e * y + f,
  }));
  let [cells, covered] = [0, 0];
  for (let row = 0; row < COVER_SIDE; row++)
    for (let column = 0; column < COVER_SIDE; column++) {
      if (!encloses(jaw, column + 0.5, row + 0.5)) continue;
      cells++;
      if (isCovered(cover, column, row)) covered++;
    }
  return 1 - shownIn(track, frame) * (1 - covered / Math.max(1, cells));
}

function encloses(outline: readonly { column: number; row: number }[], x: number, y: number): boolean {
  return outline.reduce((inside, a, i) => {
    const b = outline[(i + 1) % outline.length] ?? a;
    const crosses =
      a.row > y !== b.row > y && x < a.column + ((y - a.row) / (b.row - a.row)) * (b.column - a.column);
    return crosses ? !inside : inside;
  }, false);
}
