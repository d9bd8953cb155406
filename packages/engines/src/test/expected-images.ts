import { type Clock, endOf, middleOf } from '@lipsync/domain';
import { BILINEAR, createAlignedCrop, createCropFace } from '@lipsync/kernels';
import { createDdim, cumulativeAlphas } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { type FaceTrack } from '../face/face-track';
import { boxAt } from '../face/landmarks';
import { highsyncFaces } from '../highsync/faces';
import { type createInBetween } from '../in-between';
import { alignedFaces, transformAt } from '../latentsync/faces';
import { type LatentsyncParams } from '../latentsync/manifest';
import { inpaintMask, latentKeepMask } from '../latentsync/mask';
import { float32Of, float32Tensor, type RunModel } from '../model';
import { clockOf, FORMAT, pictureOf } from './clips';
import { BLOCK, LATENT, MASK, SHARES, SIDE, STEPS } from './highsync-pack';
import { SHARES as LATENTSYNC_SHARES } from './latentsync-pack';

/**
 * The target of the test pack's network for a crop. Its latents are rearranged pixels, so the target can be computed in
 * pixels: shares of the crop, of the masked crop, of the mask, of the audio and of the landmarks. Where the schedule
 * ends before the noise is gone, the rest of the one noise image remains, as the network saw it.
 */
export function expectedLatentsync(
  track: FaceTrack,
  sources: readonly number[],
  output: number,
  params: LatentsyncParams,
  { landmarks = true, clock = clockOf(sources) } = {},
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
    params.guidance * LATENTSYNC_SHARES.audio * heardAt(clock, output) +
    (landmarks ? LATENTSYNC_SHARES.landmarks * mean(places) : 0);
  return crop.map((pixel, i) => {
    const [channel, y, x] = [Math.floor(i / SIDE ** 2), Math.floor(i / SIDE) % SIDE, i % SIDE];
    const cell = Math.floor(y / BLOCK) * LATENT.width + Math.floor(x / BLOCK);
    // Where DepthToSpace takes a pixel from: the channel for its position in its block.
    const depth = ((y % BLOCK) * BLOCK + (x % BLOCK)) * 3 + channel;
    const first = noise[depth * LATENT.height * LATENT.width + cell] ?? NaN;
    const target =
      LATENT.scale *
        pixel *
        (LATENTSYNC_SHARES.reference + LATENTSYNC_SHARES.masked * (1 - (inpaint[i % SIDE ** 2] ?? 0))) +
      LATENTSYNC_SHARES.mask * (keep[cell] ?? 0) +
      lift;
    // The initial noise is interpreted as a little of the target plus noise.
    const epsilon = (first - Math.sqrt(start) * target) / Math.sqrt(1 - start);
    return (Math.sqrt(signal) * target + Math.sqrt(1 - signal) * epsilon) / LATENT.scale;
  });
}

/**
 * The target of the test pack's networks, per output frame: the crop with the target value inside the mask; nothing for
 * a frame without a face.
 */
export async function expectedHighsync(
  run: RunModel,
  track: FaceTrack,
  sources: readonly number[],
  clock = clockOf(sources),
): Promise<Float32Array[]> {
  const { crops } = highsyncFaces(track);
  const cropFace = createCropFace(FORMAT, SIDE, BILINEAR);
  const dims = [1, LATENT.channels, LATENT.height, LATENT.width];
  const images: Float32Array[] = [];
  for (const [output, source] of sources.entries()) {
    if (track.found[source] !== 1) {
      images.push(new Float32Array(0));
      continue;
    }
    const { x1, y1, x2, y2 } = boxAt(crops, source);
    const image = new Float32Array(3 * SIDE * SIDE);
    cropFace(pictureOf(source), { x1, y1, x2, y2 }, image, 0);
    const encoded = await run('vae_encoder', { image: float32Tensor(image, [1, 3, SIDE, SIDE]) });
    const latent = float32Of(encoded.outputs, 'latent').slice(
      0,
      LATENT.channels * LATENT.height * LATENT.width,
    );
    const places = Array.from(track.landmarks.subarray(source * 136, source * 136 + 136), (value, i) =>
      i % 2 === 0 ? ((value - x1) / (x2 - x1)) * SIDE : ((value - y1) / (y2 - y1)) * SIDE,
    );
    const lift = SHARES.audio * heardAt(clock, output) + SHARES.landmarks * mean(places);
    latent.forEach((value, i) => {
      const row = Math.floor(i / LATENT.width) % LATENT.height;
      const column = i % LATENT.width;
      const inside = row >= MASK.top && row <= MASK.bottom && column >= MASK.left && column <= MASK.right;
      if (inside) latent[i] = SHARES.reference * value + lift / LATENT.scale;
    });
    const decoded = await run('vae_decoder', { latent: float32Tensor(latent, dims) });
    images.push(float32Of(decoded.outputs, 'image'));
  }
  return images;
}

/** Mean of the steps in an output frame's audio window, repeated at the ends of the sound. */
function heardAt(clock: Clock, output: number): number {
  const last = Math.floor(50 * endOf(clock) + 1e-6) - 1;
  const steps = Array.from({ length: 10 }, (_, place) => 50 * middleOf(clock, output) - 5 + place);
  return mean(steps.map((step) => Math.min(Math.max(step, 0), last) / STEPS));
}

/** A copy of the targets in which the frames between two generated ones are drawn between these. */
export function withInBetweens(
  targets: readonly Float32Array[],
  isGenerated: (output: number) => boolean,
  inBetween: ReturnType<typeof createInBetween>,
): Float32Array[] {
  return targets.map((target, output) => {
    const [from, to] = [targets[output - 1], targets[output + 1]];
    if (isGenerated(output) || !from || !to) return target;
    const drawn = new Float32Array(target.length);
    inBetween(from, to, 0.5, drawn);
    return drawn;
  });
}

const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** The largest deviation of a generated crop from its target; NaN if there is no crop. */
export function deviationFrom(target: Float32Array, image: Float32Array | null | undefined): number {
  return target.reduce((most, value, i) => Math.max(most, Math.abs(value - (image?.[i] ?? NaN))), 0);
}
