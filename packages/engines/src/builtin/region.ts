import { BLOCK } from './latent-planes';

/** The part of a square crop that is redrawn, in cells of the latent. `bottom` and `right` are exclusive. */
export interface Region {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** The points at which a region is computed: the centres of squares of `pitch` pixels, row by row. */
export interface Raster {
  readonly rows: number;
  readonly columns: number;
  /** The x of every point, then the y of every point, in pixels of the crop. */
  readonly points: Float32Array;
}

export function rasterOf({ top, bottom, left, right }: Region, pitch: 1 | 2): Raster {
  const rows = ((bottom - top) * BLOCK) / pitch;
  const columns = ((right - left) * BLOCK) / pitch;
  const count = rows * columns;
  const points = new Float32Array(2 * count);
  for (let i = 0; i < count; i++) {
    points[i] = left * BLOCK + ((i % columns) + 0.5) * pitch;
    points[count + i] = top * BLOCK + (Math.floor(i / columns) + 0.5) * pitch;
  }
  return { rows, columns, points };
}
