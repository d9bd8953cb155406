import { clamp, type Rgb } from './shapes';

/** A painted part of the picture in head coordinates: premultiplied colour, coverage, and height for parallax. */
export interface Layer {
  readonly left: number;
  readonly top: number;
  /** Pixels per head unit. */
  readonly scale: number;
  readonly width: number;
  readonly height: number;
  /** Five values per pixel: red, green, blue (premultiplied), coverage, height. */
  readonly values: Float32Array;
}

export interface Paint {
  readonly colour: Rgb;
  readonly cover: number;
  readonly depth: number;
}

export const VALUES = 5;

/** The part of head space that every layer covers. */
const EXTENT = { left: -2, right: 2, top: -2.2, bottom: 2.4 };

/** Paints a layer pixel by pixel. */
export function paintLayer(scale: number, paint: (x: number, y: number) => Paint | null): Layer {
  const width = Math.round((EXTENT.right - EXTENT.left) * scale);
  const height = Math.round((EXTENT.bottom - EXTENT.top) * scale);
  const values = new Float32Array(width * height * VALUES);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const point = paint(EXTENT.left + (column + 0.5) / scale, EXTENT.top + (row + 0.5) / scale);
      if (point === null) continue;
      const { colour, cover, depth } = point;
      values.set(
        [clamp(colour[0]) * cover, clamp(colour[1]) * cover, clamp(colour[2]) * cover, cover, depth],
        (row * width + column) * VALUES,
      );
    }
  }
  return { left: EXTENT.left, top: EXTENT.top, scale, width, height, values };
}

/** Bilinear look-up into `out` (five values); all zero outside the layer. */
export function sampleLayer(layer: Layer, x: number, y: number, out: Float32Array): void {
  const column = (x - layer.left) * layer.scale - 0.5;
  const row = (y - layer.top) * layer.scale - 0.5;
  const left = Math.floor(column);
  const top = Math.floor(row);
  if (left < 0 || top < 0 || left + 1 >= layer.width || top + 1 >= layer.height) {
    out.fill(0);
    return;
  }
  const fx = column - left;
  const fy = row - top;
  const a = (top * layer.width + left) * VALUES;
  const b = a + layer.width * VALUES;
  for (let i = 0; i < VALUES; i++) {
    const upper = (layer.values[a + i] ?? 0) * (1 - fx) + (layer.values[a + VALUES + i] ?? 0) * fx;
    const lower = (layer.values[b + i] ?? 0) * (1 - fx) + (layer.values[b + VALUES + i] ?? 0) * fx;
    out[i] = upper * (1 - fy) + lower * fy;
  }
}
