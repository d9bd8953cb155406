import { fillNoise } from '../diffusion/noise';
import { type LatentRectangle, type LatentShape, restoreOutside } from './mask';

/** The latents of a stretch while it is denoised, frame by frame: [frames, C, h, w]. */
export interface StretchLatents {
  readonly noisy: Float32Array;
  readonly prediction: Float32Array;
  /** Sets the cells outside the mask to the clean latents. */
  restore(cleanOf: (frame: number) => Float32Array): void;
  /** Writes the noisy latents of `count` frames from `start`, in the network's layout: [C, count, h, w]. */
  readWindow(start: number, count: number, target: Float32Array): void;
  /** Adds the network's prediction for these frames, each multiplied by its weight. */
  addPrediction(start: number, weights: Float32Array, values: Float32Array): void;
}

/** Starts from noise: frame `i` gets the noise of output position `first + i`. */
export function createStretchLatents(
  shape: LatentShape,
  mask: LatentRectangle,
  frames: number,
  { seed, first }: { readonly seed: number; readonly first: number },
): StretchLatents {
  const area = shape.height * shape.width;
  const size = shape.channels * area;
  const noisy = new Float32Array(frames * size);
  const prediction = new Float32Array(frames * size);
  for (let frame = 0; frame < frames; frame++) {
    fillNoise(noisy.subarray(frame * size, (frame + 1) * size), seed, first + frame);
  }

  /** Visits the channel planes of some frames: the offset of each here, and in a tensor in the network's layout. */
  const eachPlane = (
    start: number,
    count: number,
    visit: (here: number, there: number, i: number) => void,
  ): void => {
    for (let i = 0; i < count; i++) {
      for (let channel = 0; channel < shape.channels; channel++) {
        visit((start + i) * size + channel * area, (channel * count + i) * area, i);
      }
    }
  };

  return {
    noisy,
    prediction,
    restore(cleanOf) {
      for (let frame = 0; frame < frames; frame++) {
        restoreOutside(noisy, frame * size, cleanOf(frame), 0, shape, mask);
      }
    },
    readWindow(start, count, target) {
      eachPlane(start, count, (here, there) => target.set(noisy.subarray(here, here + area), there));
    },
    addPrediction(start, weights, values) {
      eachPlane(start, weights.length, (here, there, i) => {
        const weight = weights[i] ?? 0;
        if (weight === 0) return;
        // Most frames are in one window only.
        if (weight === 1) return prediction.set(values.subarray(there, there + area), here);
        for (let k = 0; k < area; k++) {
          prediction[here + k] = (prediction[here + k] ?? 0) + weight * (values[there + k] ?? 0);
        }
      });
    },
  };
}
