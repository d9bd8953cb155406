import {
  type AnalyzerParams,
  float32Of,
  LANDMARK_COUNT,
  LANDMARK_VALUES,
  type RunModel,
  uint8Of,
} from '@lipsync/engines';
import { createPatchSampler, type Patch, patchPoint, type RgbPicture } from '@lipsync/kernels';

interface FoundLandmarks {
  /** 68 points, x and y in pixels of the picture. */
  readonly points: Float32Array;
  /** Whether the two looks agree. Where there is no face, they find different points. */
  readonly agree: boolean;
}

/** Finds the landmarks of the face that fills `patch`. */
export type FindLandmarks = (picture: RgbPicture, patch: Patch) => Promise<FoundLandmarks>;

/** How far each of the two looks is shifted, as a fraction of the face's extent. */
const SHIFT = 0.036;

/**
 * Looks twice at every face, in one batch: shifted a little one way, then mirrored and shifted the other way. The mean
 * of both looks jitters a quarter less than one look. If they disagree, there is no face; the network itself has no
 * score. The looks differ more when a face has fewer pixels than the network's input, because it is enlarged and so
 * blurred.
 */
export function createLandmarkFinder(run: RunModel, params: AnalyzerParams['landmarks']): FindLandmarks {
  const { inputSize, scale, maxDisagreement, maxDisagreementBlurred } = params;
  const shift = SHIFT / scale;
  const bytes = inputSize * inputSize * 3;
  const samplePatch = createPatchSampler();
  /** The memory of earlier looks, reused for the next ones. */
  const spares: Uint8Array<ArrayBuffer>[] = [];

  const tolerance = (side: number): number => {
    const blurred = Math.max(0, 1 - side / inputSize);
    return side * (maxDisagreement + blurred * (maxDisagreementBlurred - maxDisagreement));
  };

  return async (picture, patch) => {
    const looks = [shifted(patch, shift), shifted(patch, -shift)];
    const data = spares.pop() ?? new Uint8Array(looks.length * bytes);
    looks.forEach((look, i) => {
      const input = { width: inputSize, height: inputSize, data: data.subarray(i * bytes, (i + 1) * bytes) };
      samplePatch(picture, look, input);
      if (i === 1) mirrorRows(input);
    });
    const dims = [looks.length, inputSize, inputSize, 3];
    const { outputs, feeds } = await run('landmarks68', { image: { type: 'uint8', dims, data } });
    spares.push(uint8Of(feeds, 'image'));
    const { points, apart } = merge(float32Of(outputs, 'points'), looks);
    return { points, agree: apart <= tolerance(patch.side) };
  };
}

function shifted(patch: Patch, by: number): Patch {
  return { ...patch, ...patchPoint(patch, 0.5 + by, 0.5 + by) };
}

/**
 * `values`: both looks' points as fractions of their patches; the second look is mirrored. `apart`: the points' mean
 * distance in pixels.
 */
function merge(
  values: Float32Array,
  [plain, mirrored]: readonly Patch[],
): { points: Float32Array; apart: number } {
  const points = new Float32Array(LANDMARK_VALUES);
  let apart = 0;
  if (plain === undefined || mirrored === undefined) throw new RangeError('two looks are needed');
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const a = patchPoint(plain, values[index * 2] ?? NaN, values[index * 2 + 1] ?? NaN);
    const mirror = LANDMARK_VALUES + (MIRRORED_LANDMARKS[index] ?? 0) * 2;
    const b = patchPoint(mirrored, 1 - (values[mirror] ?? NaN), values[mirror + 1] ?? NaN);
    points[index * 2] = (a.x + b.x) / 2;
    points[index * 2 + 1] = (a.y + b.y) / 2;
    apart += Math.hypot(a.x - b.x, a.y - b.y);
  }
  return { points, apart: apart / LANDMARK_COUNT };
}

/** For every landmark, the one that takes its place in a mirrored face. */
export const MIRRORED_LANDMARKS: readonly number[] = [
  ...[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], // jaw
  ...[26, 25, 24, 23, 22, 21, 20, 19, 18, 17], // brows
  ...[27, 28, 29, 30, 35, 34, 33, 32, 31], // nose
  ...[45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40], // eyes
  ...[54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55], // outer lips
  ...[64, 63, 62, 61, 60, 67, 66, 65], // inner lips
];

/** Reverses every row of a square picture's pixels, in place. */
export function mirrorRows({ width, height, data }: RgbPicture): void {
  for (let row = 0; row < height; row++) {
    const pixels = data.subarray(row * width * 3, (row + 1) * width * 3).reverse();
    // Reversing the bytes also swapped red and blue in every pixel.
    for (let i = 0; i < pixels.length; i += 3) {
      const blue = pixels[i] ?? 0;
      pixels[i] = pixels[i + 2] ?? 0;
      pixels[i + 2] = blue;
    }
  }
}
