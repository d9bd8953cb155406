import { rgbToYuv } from '../../colour-conversion';
import { type PictureFormat } from '../../picture-format';
import { unitLevel } from './unit-level';

/** A face in the codes of a picture's matrix and range, before rounding. */
export interface FaceCodes {
  readonly y: Float32Array;
  readonly u: Float32Array;
  readonly v: Float32Array;
}

/**
 * Converts the planes R, G, B in [-1, 1], each of `area` values, at `offset`. The result is valid until the next call.
 */
export function createFaceCodes({ matrix, range }: PictureFormat, area: number) {
  const { black, yR, yG, yB, uR, uG, uB, vR, vG, vB } = rgbToYuv(matrix, range);
  const codes = { y: new Float32Array(area), u: new Float32Array(area), v: new Float32Array(area) };

  return (faces: Float32Array, offset: number): FaceCodes => {
    for (let i = 0; i < area; i++) {
      const r = unitLevel(faces[offset + i] ?? 0);
      const g = unitLevel(faces[offset + area + i] ?? 0);
      const b = unitLevel(faces[offset + 2 * area + i] ?? 0);
      codes.y[i] = black + yR * r + yG * g + yB * b;
      codes.u[i] = 128 + uR * r + uG * g + uB * b;
      codes.v[i] = 128 + vR * r + vG * g + vB * b;
    }
    return codes;
  };
}
