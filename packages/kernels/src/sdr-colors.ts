import { type MemoryPlan, type PixelKernels, planMemory, startKernels } from './kernels';
import { type PictureFormat, yuvToRgb } from './picture';
import { type Curve, type Tone, toneOf } from './tone';

/** The tone of a picture of words in the kernels' memory, laid out as `assembly/tone.ts` describes. */
interface PlacedTone {
  readonly tone: Tone;
  readonly address: number;
  readonly curves: readonly number[];
}

const FLOATS = 26;
const CURVE_HEADER = 3;

const floatsOf = ({ points }: Curve): number => CURVE_HEADER + points.length;

/** Pictures of bytes have none: their colors are SDR's. */
export function reserveTone(plan: MemoryPlan, format: PictureFormat): PlacedTone | null {
  if (format.depth === 8) return null;
  const tone = toneOf(format);
  const curves = tone.curves.map((curve) => plan.reserve(floatsOf(curve) * 4));
  return { tone, address: plan.reserve((FLOATS + 2) * 4), curves };
}

/** Writes the tone and returns its address, 0 for none. */
export function placeTone({ memory }: PixelKernels, placed: PlacedTone | null): number {
  if (placed === null) return 0;
  const { tone, address, curves } = placed;
  const { black, luma, redV, greenU, greenV, blueU } = tone.toRgb;
  new Float32Array(memory, address, FLOATS).set([
    ...[black, luma, redV, greenU, greenV, blueU],
    ...[...tone.mixture, ...tone.inverseMixture],
    ...[tone.shoulder.begin, tone.shoulder.bend],
  ]);
  new Int32Array(memory, address + FLOATS * 4, 2).set(curves);
  tone.curves.forEach((curve, k) => {
    const values = new Float32Array(memory, curves[k], floatsOf(curve));
    values.set([curve.first, curve.pointsPerUnit, curve.points.length - 2]);
    values.set(curve.points, CURVE_HEADER);
  });
  return address;
}

/**
 * Converts three planes of `area` codes Y, U, V at `planes` in the kernels' memory in place to R, G, B in [-1, 1], as a
 * network sees the picture. `area` is a multiple of four.
 */
type ToSdr = (planes: number, area: number) => void;

export function startToSdr(kernels: PixelKernels, format: PictureFormat, placed: PlacedTone | null): ToSdr {
  const tone = placeTone(kernels, placed);
  if (tone !== 0) return (planes, area) => kernels.toSdr(planes, area, tone);
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(format);
  return (planes, area) => kernels.toRgb(planes, area, black, luma, redV, greenU, greenV, blueU);
}

/**
 * The same for codes anywhere: [3, area] planes, of at most so many pixels. Codes are 8-bit ones, with fractions where
 * the picture has more bits.
 */
export function createToSdr(format: PictureFormat, mostPixels: number): (planes: Float32Array) => void {
  const room = Math.ceil(mostPixels / 4) * 4;
  const plan = planMemory();
  const address = plan.reserve(3 * room * 4);
  const tone = reserveTone(plan, format);
  const kernels = startKernels(plan.bytes);
  const toSdr = startToSdr(kernels, format, tone);
  const copies = [0, 1, 2].map((k) => new Float32Array(kernels.memory, address + k * room * 4, room));
  return (planes) => {
    const area = planes.length / 3;
    copies.forEach((copy, k) => copy.set(planes.subarray(k * area, (k + 1) * area)));
    toSdr(address, room);
    copies.forEach((copy, k) => planes.set(copy.subarray(0, area), k * area));
  };
}
