import { createAlignedCrop } from '@lipsync/kernels';
import { createDdim, cumulativeAlphas } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { type FaceTrack } from '../face/face-track';
import { type LatentsyncClip } from '../latentsync/engine';
import { alignedFaces, transformAt } from '../latentsync/faces';
import { type LatentsyncParams } from '../latentsync/manifest';
import { inpaintMask, latentKeepMask } from '../latentsync/mask';
import { FORMAT, pictureOf } from './clips';
import { BLOCK, LATENT, SIDE, STEPS } from './highsync-pack';
import { SHARES } from './latentsync-pack';

/** The crops of every output frame, and the sizes of the windows in which they were generated. */
export interface Generated {
  readonly images: readonly (Float32Array | null)[];
  readonly windows: readonly number[];
}

/** Requests every face as the pipeline would. */
export async function generate(clip: LatentsyncClip, sources: readonly number[]): Promise<Generated> {
  const images = new Array<Float32Array | null>(sources.length).fill(null);
  const windows: number[] = [];
  let batch = clip.newBatch();
  const send = async (): Promise<void> => {
    const faces = await batch.infer();
    // Copies, because the pictures' memory is reused once they are recycled.
    faces.faces.forEach(({ output }, i) => (images[output] = faces.images[i]?.slice() ?? null));
    windows.push(batch.size);
    faces.recycle();
    batch = clip.newBatch();
  };
  for (const [output, source] of sources.entries()) {
    if (batch.size > 0 && !batch.joins(output)) await send();
    batch.take(pictureOf(source), output);
    if (batch.size === clip.batchSize) await send();
  }
  if (batch.size > 0) await send();
  return { images, windows };
}

/**
 * The target of the test pack's network for a crop. Its latents are rearranged pixels, so the target can be computed in
 * pixels: shares of the crop, of the masked crop, of the mask, of the audio and of the landmarks. Where the schedule
 * ends before the noise is gone, the rest of the one noise image remains, as the network saw it.
 */
export function expectedImage(
  track: FaceTrack,
  sources: readonly number[],
  output: number,
  params: LatentsyncParams,
  { landmarks = true } = {},
): Float32Array {
  const source = sources[output] ?? -1;
  const transform = transformAt(alignedFaces(track, SIDE), source);
  if (!transform) throw new Error('there is no face');
  const crop = new Float32Array(3 * SIDE * SIDE);
  createAlignedCrop(FORMAT, SIDE)(pictureOf(source), transform, crop, 0);
  const inpaint = inpaintMask(params.mask, SIDE);
  const keep = latentKeepMask(inpaint, SIDE, LATENT);
  const noise = new Float32Array(LATENT.channels * LATENT.height * LATENT.width);
  fillNoise(noise, params.seed);
  const signal = params.schedule.finalAlpha === 'one' ? 1 : (cumulativeAlphas(params.schedule)[0] ?? NaN);
  const start = createDdim(params.schedule).alphas[0] ?? NaN;

  const { a, b, c, d, e, f } = transform;
  const points = track.landmarks.subarray(source * 136, source * 136 + 136);
  const places = points.map((value, i) =>
    i % 2 === 0 ? a * value + b * (points[i + 1] ?? 0) + c : d * (points[i - 1] ?? 0) + e * value + f,
  );
  const lift =
    params.guidance * SHARES.audio * heardAt(output, sources.length) +
    (landmarks ? SHARES.landmarks * mean(places) : 0);
  return crop.map((pixel, i) => {
    const [channel, y, x] = [Math.floor(i / SIDE ** 2), Math.floor(i / SIDE) % SIDE, i % SIDE];
    const cell = Math.floor(y / BLOCK) * LATENT.width + Math.floor(x / BLOCK);
    // Where DepthToSpace takes a pixel from: the channel for its position in its block.
    const depth = ((y % BLOCK) * BLOCK + (x % BLOCK)) * 3 + channel;
    const first = noise[depth * LATENT.height * LATENT.width + cell] ?? NaN;
    const target =
      LATENT.scale * pixel * (SHARES.reference + SHARES.masked * (1 - (inpaint[i % SIDE ** 2] ?? 0))) +
      SHARES.mask * (keep[cell] ?? 0) +
      lift;
    // The initial noise is interpreted as a little of the target plus noise.
    const epsilon = (first - Math.sqrt(start) * target) / Math.sqrt(1 - start);
    return (Math.sqrt(signal) * target + Math.sqrt(1 - signal) * epsilon) / LATENT.scale;
  });
}

/** Mean of the steps in an output frame's audio window, repeated at the ends of the sound. */
function heardAt(output: number, outputs: number): number {
  const steps = Array.from({ length: 10 }, (_, place) => 2 * output - 4 + place);
  return mean(steps.map((step) => Math.min(Math.max(step, 0), 2 * outputs - 1) / STEPS));
}

const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
