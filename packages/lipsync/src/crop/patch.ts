import { type Point } from '../face/landmarks68';

/** A rectangle of a picture, possibly rotated: where a network's input lies in it. */
export interface Patch {
  /** Centre, pixels. */
  readonly x: number;
  readonly y: number;
  /** Length along the patch's own horizontal axis, pixels. */
  readonly side: number;
  /** Clockwise turn of that axis, radians. */
  readonly angle: number;
}

/** A packed 8-bit RGB picture, rows without padding. */
export interface RgbPicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A point of a square patch, given as parts of its sides (0..1), in pixels of the picture. */
export function patchPoint(patch: Patch, u: number, v: number): Point {
  const along = (u - 0.5) * patch.side;
  const down = (v - 0.5) * patch.side;
  const cos = Math.cos(patch.angle);
  const sin = Math.sin(patch.angle);
  return { x: patch.x + along * cos - down * sin, y: patch.y + along * sin + down * cos };
}
