import { type ArrayPool } from '../array-pool';
import { type CallRole } from '../call-role';
import { guide } from '../diffusion/ddim';
import { LANDMARK_COUNT, LANDMARK_VALUES } from '../face/landmarks68';
import { allOf } from '../in-order';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { type Tensors } from '../tensor';
import { float32Of, float32Tensor } from '../tensors';
import { type HighsyncManifest } from './highsync-manifest';
import { type ReferenceBanks } from './reference-banks';

type Floats = Float32Array<ArrayBuffer>;

/** What the network sees at once: `window` frames. */
export interface NetworkWindow {
  /** Source frame indices. */
  readonly sources: readonly number[];
  /** Writes the noisy latents, [C, window, h, w]. */
  writeLatent(target: Float32Array): void;
  /** Writes the audio windows, [window, 10 steps × states, width]. */
  writeAudio(target: Float32Array): void;
  /** Writes the faces' landmarks, [window, 68, 2] in pixels of the crop. */
  writeLandmarks(target: Float32Array): void;
}

/** The network's guided prediction for a window at a diffusion time, [C, window, h, w], in an array of the pool. */
export type PredictWindow = (time: number, window: NetworkWindow) => Promise<Floats>;

/**
 * Classifier-free guidance: moves the prediction away from the one without reference and sound. The two are separate
 * calls on one window: together they would need twice the memory. The unconditional one goes first, because assembling
 * the banks of the other takes time.
 */
export function createPredictWindow(
  manifest: HighsyncManifest,
  banks: ReferenceBanks,
  call: CallRole,
  pool: ArrayPool,
): PredictWindow {
  const { roles, params } = manifest;
  const { window: frames, latent, audio, guidance } = params;
  const tokens = WINDOW_STEPS * audio.states;
  const latentDims = [1, latent.channels, frames, latent.height, latent.width];
  const latentSize = frames * latent.channels * latent.height * latent.width;
  const audioSize = frames * tokens * audio.width;

  const common = (time: number, window: NetworkWindow, wantsLandmarks: boolean): Tensors => {
    const noisy = pool.take(latentSize);
    window.writeLatent(noisy);
    const feeds: Tensors = {
      latent: float32Tensor(noisy, latentDims),
      timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(time)) },
    };
    if (!wantsLandmarks) return feeds;
    const landmarks = pool.take(frames * LANDMARK_VALUES);
    window.writeLandmarks(landmarks);
    return { ...feeds, landmarks: float32Tensor(landmarks, [1, frames, LANDMARK_COUNT, 2]) };
  };
  const heard = (fill: (target: Floats) => void): Tensors => {
    const values = pool.take(audioSize);
    fill(values);
    return { audio: float32Tensor(values, [1, frames, tokens, audio.width]) };
  };

  const without = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const role = roles.denoising_unet_unconditional;
    const feeds = common(time, window, role?.inputs.landmarks !== undefined);
    const silence = heard((values) => values.fill(0));
    return float32Of(await call('denoising_unet_unconditional', { ...feeds, ...silence }), 'prediction');
  };
  const given = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const reference = await banks.feeds(window.sources);
    const feeds = common(time, window, roles.denoising_unet.inputs.landmarks !== undefined);
    const sound = heard((values) => window.writeAudio(values));
    return float32Of(await call('denoising_unet', { ...feeds, ...sound, ...reference }), 'prediction');
  };

  return async (time, window) => {
    if (guidance === 1) return given(time, window);
    const [unconditional, conditional] = await allOf([without(time, window), given(time, window)]);
    if (!unconditional || !conditional) throw new Error('both predictions were awaited');
    guide(unconditional, conditional, guidance, conditional);
    pool.give(unconditional);
    return conditional;
  };
}
