import {
  type Cover,
  COVER_SIDE,
  coverTransform,
  type FaceTrack,
  grownCover,
  isCovered,
  LANDMARK_VALUES,
} from '@lipsync/engines';
import { type Affine, type Box, invertAffine, type PictureFormat, pictureLayout } from '@lipsync/kernels';

/** Lets `put` write a generated face into the picture of an output frame, and puts back what stays as filmed. */
export type KeepFilmed = (frame: Uint8Array, outputIndex: number, put: () => void) => void;

/**
 * Whatever the engine: what lies before a face keeps the picture's exact values, with a soft edge outside it, and a mouth
 * that is about to be covered, or was, is mixed with the filmed one. Frames without either cost nothing.
 */
export function createKeepFilmed(
  { track, sources }: { readonly track: FaceTrack; readonly sources: readonly number[] },
  format: PictureFormat,
): KeepFilmed {
  let filmed: Uint8Array | undefined;
  return (frame, outputIndex, put) => {
    const source = sources[outputIndex] ?? -1;
    const shown = (track.shown[source] ?? 255) / 255;
    const cover = track.covers.get(source);
    if (shown === 1 && cover === undefined) {
      put();
      return;
    }
    filmed ??= new Uint8Array(frame.length);
    filmed.set(frame);
    put();
    if (shown < 1) mixChanged(frame, filmed, 1 - shown, format);
    if (cover === undefined) return;
    const landmarks = track.landmarks.subarray(source * LANDMARK_VALUES, (source + 1) * LANDMARK_VALUES);
    putBack(frame, filmed, cover, coverTransform(landmarks), format);
  };
}

/** Samples that are compared at once: an engine changes a small part of a picture. */
const STRETCH = 1024;

/** Mixes so much of the filmed picture into everything that was changed. */
function mixChanged(frame: Uint8Array, filmed: Uint8Array, part: number, format: PictureFormat): void {
  const [ours, theirs] = [samplesOf(frame, format), samplesOf(filmed, format)];
  const stretch = STRETCH * ours.BYTES_PER_ELEMENT;
  for (let from = 0; from < ours.length; from += STRETCH) {
    const at = from * ours.BYTES_PER_ELEMENT;
    if (Buffer.compare(frame.subarray(at, at + stretch), filmed.subarray(at, at + stretch)) === 0) continue;
    const end = Math.min(from + STRETCH, ours.length);
    for (let i = from; i < end; i++) mixSample(ours, theirs, i, part);
  }
}

/** Puts the filmed picture back where something lies before the face: exactly there, and fading outside of it. */
function putBack(
  frame: Uint8Array,
  filmed: Uint8Array,
  cover: Cover,
  toCells: Affine,
  format: PictureFormat,
): void {
  const grown = grownCover(cover);
  const box = boundsOf(grown, toCells, format);
  const columns = box.x2 - box.x1;
  const parts = partsOf(grown, toCells, box);
  const partAt = (x: number, y: number): number =>
    x < box.x2 && y < box.y2 ? (parts[(y - box.y1) * columns + x - box.x1] ?? 0) : 0;
  const [ours, theirs] = [samplesOf(frame, format), samplesOf(filmed, format)];
  const { chromaWidth, sampleBytes, uOffset, vOffset } = pictureLayout(format);
  for (let y = box.y1; y < box.y2; y++)
    for (let x = box.x1; x < box.x2; x++) mixSample(ours, theirs, y * format.width + x, partAt(x, y));
  for (let y = box.y1; y < box.y2; y += 2) {
    for (let x = box.x1; x < box.x2; x += 2) {
      // The colors of four pixels are those of the one that is covered most.
      const part = Math.max(partAt(x, y), partAt(x + 1, y), partAt(x, y + 1), partAt(x + 1, y + 1));
      const at = (y >> 1) * chromaWidth + (x >> 1);
      for (const plane of [uOffset, vOffset]) mixSample(ours, theirs, plane / sampleBytes + at, part);
    }
  }
}

type Samples = Uint8Array | Uint16Array;

function samplesOf({ buffer, byteOffset, length }: Uint8Array, { depth }: PictureFormat): Samples {
  return depth === 8
    ? new Uint8Array(buffer, byteOffset, length)
    : new Uint16Array(buffer, byteOffset, length / 2);
}

function mixSample(ours: Samples, theirs: Samples, at: number, part: number): void {
  const generated = ours[at] ?? 0;
  ours[at] = Math.round(generated + part * ((theirs[at] ?? 0) - generated));
}

/** How many cells a cover reaches beyond a border of the grid that it touches: an engine may change a little there. */
const BEYOND = 8;

/** The even pixels of the picture that the covered cells can reach. */
function boundsOf(grown: Cover, toCells: Affine, { width, height }: PictureFormat): Box {
  let [left, top, right, bottom] = [COVER_SIDE, COVER_SIDE, 0, 0];
  for (let row = 0; row < COVER_SIDE; row++) {
    for (let column = 0; column < COVER_SIDE; column++) {
      if (!isCovered(grown, column, row)) continue;
      [left, right] = [Math.min(left, column), Math.max(right, column + 1)];
      [top, bottom] = [Math.min(top, row), Math.max(bottom, row + 1)];
    }
  }
  // Half a cell outside a covered one the filmed picture has faded.
  const [x1, y1] = [left, top].map((edge) => (edge === 0 ? -BEYOND : edge - 0.5)) as [number, number];
  const [x2, y2] = [right, bottom].map((edge) =>
    edge === COVER_SIDE ? COVER_SIDE + BEYOND : edge + 0.5,
  ) as [number, number];
  const { a, b, c, d, e, f } = invertAffine(toCells);
  const xs = [x1, x2].flatMap((x) => [y1, y2].map((y) => a * x + b * y + c));
  const ys = [x1, x2].flatMap((x) => [y1, y2].map((y) => d * x + e * y + f));
  const inside = (edge: number, size: number): number => Math.min(size, Math.max(0, edge));
  return {
    x1: inside(Math.floor(Math.min(...xs)) & ~1, width),
    y1: inside(Math.floor(Math.min(...ys)) & ~1, height),
    x2: inside(Math.ceil(Math.max(...xs)), width),
    y2: inside(Math.ceil(Math.max(...ys)), height),
  };
}

/**
 * How much of each pixel of the box stays as filmed: 1 in the cells that were covered before the cover grew and half a
 * cell around them, from where it falls to 0 over a cell. Cells at a border of the grid go on outside of it.
 */
function partsOf(grown: Cover, { a, b, c, d, e, f }: Affine, { x1, y1, x2, y2 }: Box): Float32Array {
  const cells = Float32Array.from({ length: COVER_SIDE ** 2 }, (_, cell) =>
    isCovered(grown, cell % COVER_SIDE, Math.floor(cell / COVER_SIDE)) ? 1 : 0,
  );
  const last = COVER_SIDE - 1;
  const parts = new Float32Array((x2 - x1) * (y2 - y1));
  let at = 0;
  for (let y = y1; y < y2; y++) {
    for (let x = x1; x < x2; x++) {
      const column = Math.min(last, Math.max(0, a * (x + 0.5) + b * (y + 0.5) + c - 0.5));
      const row = Math.min(last, Math.max(0, d * (x + 0.5) + e * (y + 0.5) + f - 0.5));
      const [left, top] = [Math.floor(column), Math.floor(row)];
      const [right, below] = [Math.min(last, left + 1), Math.min(last, top + 1) * COVER_SIDE];
      const above = top * COVER_SIDE;
      const upper = between(cells[above + left] ?? 0, cells[above + right] ?? 0, column - left);
      const lower = between(cells[below + left] ?? 0, cells[below + right] ?? 0, column - left);
      parts[at++] = between(upper, lower, row - top);
    }
  }
  return parts;
}

function between(from: number, to: number, part: number): number {
  return from + part * (to - from);
}
