import { type PictureFormat, pictureLayout, rgbToYuv, yuvToRgb } from '../../picture';
import { toneOf } from '../../tone';
import { levelOf, shoulder, signalOf } from './levels';

type Color = readonly [number, number, number];

/** Converts Y, U, V codes of a picture to R, G, B in [-1, 1], as a network sees them. */
export function toRgb(format: PictureFormat) {
  const levelsOf = unclippedLevels(format);
  return (y: number, u: number, v: number): Color => mapped(levelsOf(y, u, v), signed);
}

/**
 * Converts R, G, B in [-1, 1], which networks overshoot, to Y, U, V codes of a picture before rounding. `old` are those
 * of the pixel that is replaced: of ten bits what the network could not see is kept.
 */
export function toYuv(format: PictureFormat) {
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(format);
  const levelsOf = unclippedLevels(format);
  const { inverseMixture } = toneOf(format);
  const signalsOf = (color: Color, old: Color): Color => {
    const before = levelsOf(...old);
    const [r, g, b] = [0, 1, 2].map((k) => {
      const level = before[k] ?? NaN;
      return shoulder(format, unit(color[k] ?? NaN) + level - clamp(level, 0, 1), 'back');
    });
    return mapped(times(inverseMixture, [r ?? NaN, g ?? NaN, b ?? NaN]), (level) => signalOf(format, level));
  };
  return (color: Color, old: Color): Color => {
    const [r, g, b] = format.depth === 8 ? mapped(color, unit) : signalsOf(color, old);
    return [black + yR * r + yG * g + yB * b, 128 + uR * r + uG * g + uB * b, 128 + vR * r + vG * g + vB * b];
  };
}

/** Levels of SDR's primaries, which may be beyond [0, 1]. */
function unclippedLevels(format: PictureFormat) {
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(format);
  const { mixture } = toneOf(format);
  return (y: number, u: number, v: number): Color => {
    const light = luma * (y - black);
    const [blueness, redness] = [u - 128, v - 128];
    const signals: Color = [
      light + redV * redness,
      light + greenU * blueness + greenV * redness,
      light + blueU * blueness,
    ];
    if (format.depth === 8) return signals;
    const levels = mapped(signals, (signal) => levelOf(format, signal));
    return mapped(times(mixture, levels), (level) => shoulder(format, level, 'forth'));
  };
}

/** The samples of a picture in 8-bit codes: those of Y, then those of U and V at `u` and `v`. */
export function openSamples(picture: Uint8Array, format: PictureFormat) {
  const { sampleBytes, uOffset, vOffset, chromaWidth } = pictureLayout(format);
  const bytes = new DataView(picture.buffer, picture.byteOffset, picture.byteLength);
  const [perCode, most] = sampleBytes === 1 ? [1, 255] : [4, 1023];
  const read = (at: number): number =>
    sampleBytes === 1 ? bytes.getUint8(at) : bytes.getUint16(2 * at, true);
  const data = Float64Array.from({ length: picture.length / sampleBytes }, (_, at) => read(at) / perCode);
  const [u, v] = [uOffset / sampleBytes, vOffset / sampleBytes];
  return {
    data,
    u,
    v,
    /** The codes of a pixel. */
    at(x: number, y: number): Color {
      const chroma = (y >> 1) * chromaWidth + (x >> 1);
      return [data[y * format.width + x] ?? NaN, data[u + chroma] ?? NaN, data[v + chroma] ?? NaN];
    },
    /** Blends `value` into a sample of the picture, weighted by `share` and rounded. */
    blend(at: number, value: number, share: number): void {
      const old = read(at);
      const mixed = Math.floor(clamp(old + (value * perCode - old) * share + 0.5, 0, most));
      if (sampleBytes === 1) bytes.setUint8(at, mixed);
      else bytes.setUint16(2 * at, mixed, true);
    },
  };
}

/** A pixel of a face, where it is in the picture, and how much of it is shown. */
interface Pixel {
  readonly x: number;
  readonly y: number;
  readonly share: number;
  readonly codes: Color;
}

/**
 * Blends two rows of pixels, from an even column and row on. A chroma sample takes the mean of its four pixels, each
 * weighted by its share, and is blended by the mean of the shares.
 */
export function blendPixels(
  samples: ReturnType<typeof openSamples>,
  { width }: PictureFormat,
  rows: readonly (readonly Pixel[])[],
): void {
  const chromaWidth = (width + 1) >> 1;
  for (const { x, y, share, codes } of rows.flat()) samples.blend(y * width + x, codes[0], share);
  for (let i = 0; i < (rows[0]?.length ?? 0); i += 2) {
    const four = rows.flatMap((line) => line.slice(i, i + 2));
    const total = four.reduce((sum, { share }) => sum + share, 0);
    if (total === 0) continue;
    const at = ((four[0]?.y ?? NaN) / 2) * chromaWidth + (four[0]?.x ?? NaN) / 2;
    const mean = (k: 1 | 2): number =>
      four.reduce((sum, { share, codes }) => sum + share * codes[k], 0) / total;
    samples.blend(samples.u + at, mean(1), total / 4);
    samples.blend(samples.v + at, mean(2), total / 4);
  }
}

/** Looked up once, because access to a global is slow in a test. */
const { min, max } = Math;

export const clamp = (value: number, low: number, high: number): number => min(max(value, low), high);

/** From [0, 1], with what is beyond cut off, to [-1, 1]. */
const signed = (level: number): number => 2 * clamp(level, 0, 1) - 1;
/** From [-1, 1] to [0, 1]. */
const unit = (value: number): number => clamp((value + 1) / 2, 0, 1);

const mapped = ([a, b, c]: Color, change: (value: number) => number): Color => [
  change(a),
  change(b),
  change(c),
];

/** A 3 × 3 matrix times a color. */
function times(matrix: readonly number[], [a, b, c]: Color): Color {
  const row = (k: number): number =>
    (matrix[k] ?? NaN) * a + (matrix[k + 1] ?? NaN) * b + (matrix[k + 2] ?? NaN) * c;
  return [row(0), row(3), row(6)];
}
