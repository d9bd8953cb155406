import { type PictureFormat, type ToRgb, yuvToRgb } from './picture';

/*
 * Networks know faces in SDR. So what they see of a picture of ten bits is what an SDR camera would have made of the
 * same scene, and what they draw is brought back the same way. A signal R', G' or B' becomes a level: 1 is diffuse
 * white, and equal steps look as in SDR, whose displays raise signals to the power of 2.4 (ITU-R BT.1886).
 */

/** Light of diffuse white in PQ, and of the brightest HLG, in cd/m² (ITU-R BT.2408 and BT.2100). */
const WHITE = 203;
const PEAK = 1000;
const SDR_GAMMA = 2.4;
/** The level of PEAK, the brightest that a network can draw. */
const PEAK_LEVEL = (PEAK / WHITE) ** (1 / SDR_GAMMA);

/** Converts signals in [0, 1] to levels, and back. Both rise everywhere. */
interface Transfer {
  readonly level: (signal: number) => number;
  readonly signal: (level: number) => number;
}

/** SMPTE ST 2084. */
const PQ = {
  m1: 2610 / 16384,
  m2: (2523 / 4096) * 128,
  c1: 3424 / 4096,
  c2: (2413 / 4096) * 32,
  c3: (2392 / 4096) * 32,
  peak: 10_000,
};

/** ARIB STD-B67. */
const HLG_A = 0.17883277;
const HLG_B = 1 - 4 * HLG_A;
const HLG_C = 0.5 - HLG_A * Math.log(4 * HLG_A);

const TRANSFERS: Readonly<Record<'pq' | 'hlg', Transfer>> = {
  pq: {
    level(signal) {
      const power = signal ** (1 / PQ.m2);
      const light = (Math.max(power - PQ.c1, 0) / (PQ.c2 - PQ.c3 * power)) ** (1 / PQ.m1);
      return ((PQ.peak * light) / WHITE) ** (1 / SDR_GAMMA);
    },
    signal(level) {
      const power = ((WHITE * level ** SDR_GAMMA) / PQ.peak) ** PQ.m1;
      return ((PQ.c1 + PQ.c2 * power) / (1 + PQ.c3 * power)) ** PQ.m2;
    },
  },
  // The display's gamma of 1.2 on each color and SDR's of 2.4 leave a square root, which the signal is up to a half:
  // HLG shown as SDR looks nearly right.
  hlg: {
    level(signal) {
      const scene = signal <= 0.5 ? signal ** 2 / 3 : (Math.exp((signal - HLG_C) / HLG_A) + HLG_B) / 12;
      return PEAK_LEVEL * Math.sqrt(scene);
    },
    signal(level) {
      const scene = (level / PEAK_LEVEL) ** 2;
      return scene <= 1 / 12 ? Math.sqrt(3 * scene) : HLG_A * Math.log(12 * scene - HLG_B) + HLG_C;
    },
  },
};

/**
 * From BT.2020's primaries to those of SDR (ITU-R BT.2087). It is meant for light; on levels it is exact for gray, and
 * skin differs by 0.2 to 1.2, lips by 3 (CIEDE2000). Without it skin would differ by 5 to 7.
 */
const FROM_BT2020 = [1.6605, -0.5876, -0.0729, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1188];
const SAME = [1, 0, 0, 0, 1, 0, 0, 0, 1];

/** A curve of straight lines through equally spaced points, the first before the place 0. */
export interface Curve {
  readonly first: number;
  readonly pointsPerUnit: number;
  readonly points: Float32Array;
}

/** Samples a function that leads from 0 to 0. Below 0 the curve goes on at a slope of 1, above `end` at its last. */
function curveOf(value: (place: number) => number, end: number, steps: number): Curve {
  const step = end / steps;
  const points = Float32Array.from({ length: steps + 2 }, (_, i) =>
    i === 0 ? -step : value((i - 1) * step),
  );
  return { first: -step, pointsPerUnit: 1 / step, points };
}

/** How colors of a picture appear in SDR. */
export interface Tone {
  readonly toRgb: ToRgb;
  /** 3 × 3: the shares of the picture's primaries in those of SDR, and the inverse. */
  readonly mixture: readonly number[];
  readonly inverseMixture: readonly number[];
  /**
   * What is above `begin` is divided by 1 + bend · (level − begin), which puts PEAK at 1, and diffuse white at 0.91.
   */
  readonly shoulder: { readonly begin: number; readonly bend: number };
  /** From signals to levels, and back; none in SDR, where they are the same. */
  readonly curves: readonly Curve[];
}

const SHOULDER_BEGIN = 0.8;
const SHOULDER = {
  begin: SHOULDER_BEGIN,
  bend: 1 / (1 - SHOULDER_BEGIN) - 1 / (PEAK_LEVEL - SHOULDER_BEGIN),
};
const NO_SHOULDER = { begin: 1e9, bend: 0 };

/** Steps of a curve; its error is far below a tenth of a code. */
const SIGNAL_STEPS = 1024;
const LEVEL_STEPS = 2560;

export function toneOf(format: PictureFormat): Tone {
  const mixture = format.matrix === 'bt2020' ? FROM_BT2020 : SAME;
  const primaries = { toRgb: yuvToRgb(format), mixture, inverseMixture: inverted(mixture) };
  if (format.transfer === 'sdr') return { ...primaries, shoulder: NO_SHOULDER, curves: [] };
  const { level, signal } = TRANSFERS[format.transfer];
  const curves = [curveOf(level, 1, SIGNAL_STEPS), curveOf(signal, level(1), LEVEL_STEPS)];
  return { ...primaries, shoulder: SHOULDER, curves };
}

/** The signal of a gray that appears in SDR at `level`, which is below the shoulder. */
export function graySignal(transfer: PictureFormat['transfer'], level: number): number {
  return transfer === 'sdr' ? level : TRANSFERS[transfer].signal(level);
}

/** The inverse of a 3 × 3 matrix. */
function inverted(matrix: readonly number[]): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0] = matrix;
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const adjugate = [
    ...[e * i - f * h, c * h - b * i, b * f - c * e],
    ...[f * g - d * i, a * i - c * g, c * d - a * f],
    ...[d * h - e * g, b * g - a * h, a * e - b * d],
  ];
  return adjugate.map((value) => value / determinant);
}
