import { type ColourMatrix, type ColourRange } from './picture-format';

/** Luma weights of red and blue; green has the rest. */
const LUMA_WEIGHTS: Readonly<Record<ColourMatrix, { red: number; blue: number }>> = {
  bt601: { red: 0.299, blue: 0.114 },
  bt709: { red: 0.2126, blue: 0.0722 },
};

/** 8-bit code values: black, and the code distance of full luma and of the chroma extremes. */
const CODES: Readonly<Record<ColourRange, { black: number; luma: number; chroma: number }>> = {
  limited: { black: 16, luma: 219, chroma: 224 },
  full: { black: 0, luma: 255, chroma: 255 },
};

/** Converts 8-bit Y, U, V to R, G, B in [0, 1] (before clipping): with y = Y − black, u = U − 128, v = V − 128. */
export interface ToRgb {
  readonly black: number;
  readonly luma: number;
  readonly redV: number;
  readonly greenU: number;
  readonly greenV: number;
  readonly blueU: number;
}

export function yuvToRgb(matrix: ColourMatrix, range: ColourRange): ToRgb {
  const { red, blue } = LUMA_WEIGHTS[matrix];
  const { black, luma, chroma } = CODES[range];
  const green = 1 - red - blue;
  const redV = (2 * (1 - red)) / chroma;
  const blueU = (2 * (1 - blue)) / chroma;
  return {
    black,
    luma: 1 / luma,
    redV,
    blueU,
    greenU: (-blueU * blue) / green,
    greenV: (-redV * red) / green,
  };
}

/** Converts R, G, B in [0, 1] to 8-bit codes before rounding: Y = black + y·rgb, U = 128 + u·rgb, V = 128 + v·rgb. */
export interface FromRgb {
  readonly black: number;
  readonly yR: number;
  readonly yG: number;
  readonly yB: number;
  readonly uR: number;
  readonly uG: number;
  readonly uB: number;
  readonly vR: number;
  readonly vG: number;
  readonly vB: number;
}

export function rgbToYuv(matrix: ColourMatrix, range: ColourRange): FromRgb {
  const { red, blue } = LUMA_WEIGHTS[matrix];
  const { black, luma, chroma } = CODES[range];
  const green = 1 - red - blue;
  const u = chroma / (2 * (1 - blue));
  const v = chroma / (2 * (1 - red));
  return {
    black,
    yR: red * luma,
    yG: green * luma,
    yB: blue * luma,
    uR: -red * u,
    uG: -green * u,
    uB: (1 - blue) * u,
    vR: (1 - red) * v,
    vG: -green * v,
    vB: -blue * v,
  };
}
