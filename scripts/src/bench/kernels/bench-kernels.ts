import { createCropFace, createPasteFace } from '@lipsync/lipsync';
import {
  createCropFace as plainCropFace,
  createPasteFace as plainPasteFace,
} from '@lipsync/lipsync/reference';
import { median } from '../median';
import { arrayKernels } from './array-kernels';
import { createFaceMask, createFaceScene } from './face-scene';
import { type KernelAlternative } from './kernel-alternative';
import { onnxKernels } from './onnx-kernels';

export interface KernelFigures {
  picture: string;
  face_pixels: number;
  crop_pixels: number;
  mask_ms: number;
  alternatives: Record<'typed_arrays' | 'onnx_graphs' | 'wasm_simd', { crop_ms: number; paste_ms: number }>;
  /** Of the fastest. */
  fastest: { crop: string; paste: string };
}

const SIZES = [
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
];
const CROP_PIXELS = 256;
const ROUNDS = 7;
const CALLS_PER_ROUND = 60;

/**
 * What a frame's crop and paste cost in every form that was considered: milliseconds of processor time, which other work
 * on the machine disturbs less than the clock's; medians over rounds.
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

async function timed(kernels: KernelAlternative): Promise<{ crop_ms: number; paste_ms: number }> {
  return { crop_ms: await perCall(() => kernels.crop()), paste_ms: await perCall(() => kernels.paste()) };
}

/** The first round warms up and is not counted. */
async function perCall(call: () => void | Promise<void>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < CALLS_PER_ROUND; i++) await call();
    const { user, system } = process.cpuUsage(before);
    rounds.push((user + system) / 1000 / CALLS_PER_ROUND);
  }
  return median(rounds.slice(1));
}

function fastest(alternatives: KernelFigures['alternatives'], measure: 'crop_ms' | 'paste_ms'): string {
  const ranked = Object.entries(alternatives).sort(([, a], [, b]) => a[measure] - b[measure]);
  return ranked[0]?.[0] ?? '';
}
