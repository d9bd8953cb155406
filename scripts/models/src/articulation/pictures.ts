import { type FaceTrack, landmark, landmarksAt, MOUTH } from '@lipsync/engines';
import { median } from '@lipsync/local-stack';
import { type Box } from '../outside-face';

/** A planar picture with halved color planes. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** What the landmarks enclose: a point every few degrees around the lips. */
type Outline = readonly { readonly x: number; readonly y: number }[];

/** The points around both lips, in order, among those of the mouth. */
const OUTER_LIPS = 12;
/** Margin of the mouth's box, of its width: the lips' edges belong to it. */
const MARGIN = 0.15;

export const lipsOf = (track: FaceTrack, frame: number): Outline => outlineOf(landmarksAt(track, frame));

const outlineOf = (landmarks: Float32Array): Outline =>
  Array.from({ length: OUTER_LIPS }, (_, i) => landmark(landmarks, MOUTH[0] + i));

/** The pixels around the lips, inside the picture and away from its edge. */
export function mouthBox(lips: Outline, { width, height }: Pick<Picture, 'width' | 'height'>): Box {
  const [xs, ys] = [lips.map(({ x }) => x), lips.map(({ y }) => y)];
  const margin = MARGIN * (Math.max(...xs) - Math.min(...xs));
  return {
    x1: Math.max(1, Math.floor(Math.min(...xs) - margin)),
    y1: Math.max(1, Math.floor(Math.min(...ys) - margin)),
    x2: Math.min(width - 1, Math.ceil(Math.max(...xs) + margin)),
    y2: Math.min(height - 1, Math.ceil(Math.max(...ys) + margin)),
  };
}

const [NOSE_BASE, CHIN] = [33, 8];
/** Skin and hair begin so far from the lips, of the way to the nose or the chin; below they end before its edge. */
const LIPS_END = 0.15;
const CHIN_BEGINS = 0.75;
/** Less of it says nothing: pixels. */
const LEAST_SIDE = 4;

/** What lies above the lips up to the nose, and below them down to the chin; null where the picture shows too little. */
export function skinAroundLips(
  landmarks: Float32Array,
  { width, height }: Pick<Picture, 'width' | 'height'>,
): { readonly above: Box | null; readonly below: Box | null } {
  const lips = outlineOf(landmarks);
  const [xs, ys] = [lips.map(({ x }) => x), lips.map(({ y }) => y)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const [nose, chin] = [landmark(landmarks, NOSE_BASE).y, landmark(landmarks, CHIN).y];
  const between = (from: number, to: number): Box | null => {
    const box = {
      x1: Math.max(1, Math.ceil(Math.min(...xs))),
      y1: Math.max(1, Math.ceil(from)),
      x2: Math.min(width - 1, Math.floor(Math.max(...xs))),
      y2: Math.min(height - 1, Math.floor(to)),
    };
    return box.x2 - box.x1 < LEAST_SIDE || box.y2 - box.y1 < LEAST_SIDE ? null : box;
  };
  return {
    above: between(nose + LIPS_END * (top - nose), top - LIPS_END * (top - nose)),
    below: between(bottom + LIPS_END * (chin - bottom), bottom + CHIN_BEGINS * (chin - bottom)),
  };
}

/** How much fine detail a box holds: the root mean square of the brightness' Laplacian, in gray levels. */
export function detail({ width, data }: Picture, { x1, y1, x2, y2 }: Box): number {
  let sum = 0;
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) {
      const at = y * width + x;
      const around =
        (data[at - 1] ?? 0) + (data[at + 1] ?? 0) + (data[at - width] ?? 0) + (data[at + width] ?? 0);
      sum += (4 * (data[at] ?? 0) - around) ** 2;
    }
  return Math.sqrt(sum / ((x2 - x1) * (y2 - y1)));
}

/**
 * How unlike one another the lips' pixels are: their mean distance from the middling color, in levels of brightness and
 * both color differences. Smears and teeth that are left on closed lips raise it above that of the face's own closed
 * lips.
 */
export function lipUnevenness(picture: Picture, lips: Outline): number {
  const { width, height, data } = picture;
  const { x1, y1, x2, y2 } = mouthBox(lips, picture);
  const [chromaWidth, lumaSize] = [Math.ceil(width / 2), width * height];
  const blue = lumaSize;
  const red = lumaSize + chromaWidth * Math.ceil(height / 2);
  const pixels: [number, number, number][] = [];
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) {
      if (!encloses(lips, x + 0.5, y + 0.5)) continue;
      const half = (y >> 1) * chromaWidth + (x >> 1);
      pixels.push([data[y * width + x] ?? 0, data[blue + half] ?? 0, data[red + half] ?? 0]);
    }
  const middle = [0, 1, 2].map((plane) => median(pixels.map((pixel) => pixel[plane] ?? 0)));
  const distances = pixels.map((pixel) =>
    Math.hypot(...pixel.map((value, plane) => value - (middle[plane] ?? 0))),
  );
  return distances.reduce((sum, value) => sum + value, 0) / distances.length;
}

function encloses(outline: Outline, x: number, y: number): boolean {
  return outline.reduce((inside, a, i) => {
    const b = outline[(i + 1) % outline.length] ?? a;
    const crosses = a.y > y !== b.y > y && x < a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x);
    return crosses ? !inside : inside;
  }, false);
}

/** What flashes for one frame: the mean second difference of the brightness over three frames, in gray levels. */
export function flash(three: readonly Picture[], { x1, y1, x2, y2 }: Box): number {
  const [before, now, after] = three;
  if (before === undefined || now === undefined || after === undefined) return NaN;
  let sum = 0;
  for (let y = y1; y < y2; y++)
    for (let x = x1; x < x2; x++) {
      const at = y * now.width + x;
      sum += Math.abs(2 * (now.data[at] ?? 0) - (before.data[at] ?? 0) - (after.data[at] ?? 0));
    }
  return sum / ((x2 - x1) * (y2 - y1));
}
