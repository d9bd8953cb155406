import { fillNoise } from '../diffusion/noise';
import { createExemplarFeeds } from '../exemplar-inputs';
import { LANDMARK_COUNT, LANDMARK_VALUES } from '../face/landmarks';
import { type MouthExemplars } from '../face/mouth-exemplars';
import { type ArrayPool, float32Of, float32Tensor, giveAll, type RunModel, type Tensors } from '../model';
import { WINDOW_STEPS } from '../speech/windows';
import { type LatentsyncManifest } from './manifest';
import { createSampler } from './sampler';

type Floats = Float32Array<ArrayBuffer>;

/** The network's inputs for a full window of consecutive frames. */
interface WindowConditions {
  /** See `WindowInput`; taken over. */
  readonly input: Floats;
  /** Writes the audio windows, [frames, 10 steps × states, width]. */
  writeAudio(target: Float32Array): void;
  /** Writes the faces' landmarks, [frames, 68, 2] in pixels of the crop. */
  writeLandmarks(target: Float32Array): void;
  readonly mouths: MouthExemplars;
}

/**
 * The network's input before the first step, [3 · C + 1, frames, h, w]: noisy, mask, masked, reference. Given are every
 * frame's scaled latents of the masked crop and of the whole crop, [2, C, h, w].
 */
type WindowInput = (latents: readonly Float32Array[]) => Floats;

/** All frames start from one noise image. `keep` is [h, w], 1 where the face is kept. */
export function createWindowInput(
  { params: { latent, window, seed } }: LatentsyncManifest,
  keep: Float32Array,
  pool: ArrayPool,
): WindowInput {
  const { channels, height, width } = latent;
  const plane = height * width;
  const noise = new Float32Array(channels * plane);
  fillNoise(noise, seed);
  return (latents) => {
    const input = pool.take((3 * channels + 1) * window * plane);
    const place = (channel: number, frame: number): number => (channel * window + frame) * plane;
    latents.forEach((known, frame) => {
      input.set(keep, place(channels, frame));
      for (let channel = 0; channel < channels; channel++) {
        const masked = channel * plane;
        const reference = (channels + channel) * plane;
        input.set(noise.subarray(masked, masked + plane), place(channel, frame));
        input.set(known.subarray(masked, masked + plane), place(channels + 1 + channel, frame));
        input.set(known.subarray(reference, reference + plane), place(2 * channels + 1 + channel, frame));
      }
    });
    return input;
  };
}

/**
 * Generates a window: clean latents [C, frames, h, w], still scaled. Rejects with the signal's reason between calls of the
 * network.
 */
type DenoiseWindow = (window: WindowConditions, signal: AbortSignal) => Promise<Floats>;

/**
 * LatentSync's denoising (https://github.com/bytedance/LatentSync): the frames of a window are denoised together. Of the
 * network's input only the noisy part changes from step to step.
 */
export function createDenoiseWindow(
  manifest: LatentsyncManifest,
  run: RunModel,
  pool: ArrayPool,
): DenoiseWindow {
  const { latent, audio, window: frames } = manifest.params;
  const { unet3d } = manifest.roles;
  const { channels, height, width } = latent;
  const tokens = WINDOW_STEPS * audio.states;
  const exemplarFeeds = createExemplarFeeds(unet3d, pool);
  const sample = createSampler(manifest, run, pool);

  const landmarkFeeds = (window: WindowConditions): Tensors => {
    if (!unet3d.inputs.landmarks) return {};
    const landmarks = pool.take(frames * LANDMARK_VALUES);
    window.writeLandmarks(landmarks);
    return { landmarks: float32Tensor(landmarks, [frames, LANDMARK_COUNT, 2]) };
  };

  return async (window, signal) => {
    const heard = pool.take(frames * tokens * audio.width);
    window.writeAudio(heard);
    const fed = await sample(
      {
        latent: float32Tensor(window.input, [1, 3 * channels + 1, frames, height, width]),
        audio: float32Tensor(heard, [frames, tokens, audio.width]),
        ...landmarkFeeds(window),
        ...exemplarFeeds(window.mouths),
      },
      signal,
    );
    const clean = float32Of(fed, 'latent').slice(0, channels * frames * height * width);
    giveAll(fed, pool);
    return clean;
  };
}
