import { createCropFace, createPasteFace } from '@lipsync/lipsync';
import {
  createCropFace as plainCropFace,
  createPasteFace as plainPasteFace,
} from '@lipsync/lipsync/reference';
import { arrayKernels } from './array-kernels';
import { createFaceMask, createFaceScene } from './face-scene';
import { onnxKernels } from './onnx-kernels';
import { perCall, timed } from './timed';

export interface KernelFigures {
  picture: string;
  face_pixels: number;
  crop_pixels: number;
  mask_ms: number;
  alternatives: Record<'typed_arrays' | 'onnx_graphs' | 'wasm_simd', { crop_ms: number; paste_ms: number }>;
  /** The names of the fastest alternatives. */
  fastest: { crop: string; paste: string };
}

const SIZES = [
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
];
const CROP_PIXELS = 256;

/**
 * The cost of a frame's crop and paste in each of the alternatives (except sharp, whose figures are in ADR 16: it
 * composites whole pictures). Milliseconds of processor time, which other work on the machine disturbs less than wall
 * time; medians over rounds.
 */
export async function benchKernels(): Promise<KernelFigures[]> {
  const figures: KernelFigures[] = [];
  for (const { width, height } of SIZES) {
    const scene = createFaceScene(width, height, CROP_PIXELS);
    const faceMask = createFaceMask();
    const measured = {
      typed_arrays: arrayKernels(scene, { cropFace: plainCropFace, pasteFace: plainPasteFace }),
      onnx_graphs: await onnxKernels(scene),
      wasm_simd: arrayKernels(scene, { cropFace: createCropFace, pasteFace: createPasteFace }),
    };
    const alternatives = {
      typed_arrays: await timed(measured.typed_arrays),
      onnx_graphs: await timed(measured.onnx_graphs),
      wasm_simd: await timed(measured.wasm_simd),
    };
    figures.push({
      picture: `${width}x${height}`,
      face_pixels: Math.round(scene.box.x2 - scene.box.x1),
      crop_pixels: CROP_PIXELS,
      mask_ms: await perCall(() => void faceMask(scene.landmarks, scene.box)),
      alternatives,
      fastest: { crop: fastest(alternatives, 'crop_ms'), paste: fastest(alternatives, 'paste_ms') },
    });
  }
  return figures;
}

function fastest(alternatives: KernelFigures['alternatives'], measure: 'crop_ms' | 'paste_ms'): string {
  const ranked = Object.entries(alternatives).sort(([, a], [, b]) => a[measure] - b[measure]);
  return ranked[0]?.[0] ?? '';
}
