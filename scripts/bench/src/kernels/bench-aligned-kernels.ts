import { createAlignedCrop, createAlignedPaste } from '@lipsync/lipsync';
import {
  createAlignedCrop as plainAlignedCrop,
  createAlignedPaste as plainAlignedPaste,
} from '@lipsync/lipsync/reference';
import { alignedKernels } from './aligned-kernels';
import { createAlignedScene } from './aligned-scene';
import { type KernelTimes, timed } from './timed';

export interface AlignedKernelFigures {
  picture: string;
  face_pixels: number;
  crop_pixels: number;
  typed_arrays: KernelTimes;
  wasm_simd: KernelTimes;
}

const SCENES = [
  { width: 1280, height: 720, faceWidth: 225, side: 256 },
  { width: 1280, height: 720, faceWidth: 300, side: 256 },
  { width: 1920, height: 1080, faceWidth: 450, side: 256 },
  { width: 1920, height: 1080, faceWidth: 450, side: 512 },
];

/**
 * The cost of crop and paste for a rotated face, as LatentSync needs them, with the plain and the optimised kernels.
 */
export async function benchAlignedKernels(): Promise<AlignedKernelFigures[]> {
  const figures: AlignedKernelFigures[] = [];
  for (const { width, height, faceWidth, side } of SCENES) {
    const scene = createAlignedScene({ width, height }, faceWidth, side);
    figures.push({
      picture: `${width}x${height}`,
      face_pixels: faceWidth,
      crop_pixels: side,
      typed_arrays: await timed(alignedKernels(scene, { crop: plainAlignedCrop, paste: plainAlignedPaste })),
      wasm_simd: await timed(alignedKernels(scene, { crop: createAlignedCrop, paste: createAlignedPaste })),
    });
  }
  return figures;
}
