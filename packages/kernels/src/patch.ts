import { type Point } from './box';

/** A rectangle of a picture, possibly rotated: the position of a network's input in it. */
export interface Patch {
  /** Centre, pixels. */
  readonly x: number;
  readonly y: number;
  /** Length along the patch's own horizontal axis, pixels. */
  readonly side: number;
  /** Clockwise rotation of that axis, radians. */
  readonly angle: number;
}

/** A packed 8-bit RGB picture, rows without padding. */
export interface RgbPicture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Converts a point of a square patch, given as fractions of its sides (0..1), to pixels of the picture. */
export function patchPoint(patch: Patch, u: number, v: number): Point {
  const along = (u - 0.5) * patch.side;
  const down = (v - 0.5) * patch.side;
  const cos = Math.cos(patch.angle);
  const sin = Math.sin(patch.angle);
  return { x: patch.x + along * cos - down * sin, y: patch.y + along * sin + down * cos };
}
