import { guide } from '../diffusion/ddim';
import { createGuidanceScale } from '../diffusion/guidance-interval';
import { createExemplarFeeds } from '../exemplar-inputs';
import { LANDMARK_COUNT, LANDMARK_VALUES } from '../face/landmarks';
import { type MouthExemplars } from '../face/mouth-exemplars';
import { allEnded } from '../in-order';
import { type ArrayPool, type CallRole, float32Of, float32Tensor, type Tensors } from '../model';
import { WINDOW_STEPS } from '../speech/windows';
import { type HighsyncManifest } from './manifest';
import { generatedSpan } from './mask';
import { type ReferenceFeeds } from './reference-feeds';

type Floats = Float32Array<ArrayBuffer>;

/** What the network sees at once: `window` frames. */
export interface NetworkWindow {
  /** Source frame indices, of one shot. */
  readonly sources: readonly number[];
  /** Writes the noisy latents, [C, window, h, w]. */
  writeLatent(target: Float32Array): void;
  /** Writes the audio windows, [window, 10 steps × states, width]. */
  writeAudio(target: Float32Array): void;
  /** Writes the faces' landmarks, [window, 68, 2] in pixels of the crop. */
  writeLandmarks(target: Float32Array): void;
}

/** What the network is given of source frames. */
interface GivenFrames {
  readonly reference: ReferenceFeeds;
  /** The clip's own mouth as it looks in a frame. */
  readonly mouthsAt: (source: number) => Promise<MouthExemplars>;
}

/**
 * The network's prediction for a window at a diffusion time, [C, window, h, w], in an array of the pool; guided where
 * something is generated, which is all that anyone needs of it.
 */
export type PredictWindow = (time: number, window: NetworkWindow) => Promise<Floats>;

/**
 * Classifier-free guidance: moves the prediction away from the one without reference and sound. The two are separate
 * calls on one window: together they would need twice the memory. The unconditional one goes first, because computing or
 * assembling the banks of the other takes time.
 */
export function createPredictWindow(
  manifest: HighsyncManifest,
  { reference, mouthsAt }: GivenFrames,
  call: CallRole,
  pool: ArrayPool,
): PredictWindow {
  const { roles, params } = manifest;
  const { window: length, latent, audio } = params;
  const scaleAt = createGuidanceScale(params);
  const tokens = WINDOW_STEPS * audio.states;
  const area = latent.height * latent.width;
  const span = generatedSpan(latent.width, params.mask);
  const latentDims = [1, latent.channels, length, latent.height, latent.width];
  const latentSize = length * latent.channels * area;
  const audioSize = length * tokens * audio.width;
  const exemplarFeeds = createExemplarFeeds(roles.denoising_unet, pool);

  const common = (time: number, window: NetworkWindow, wantsLandmarks: boolean): Tensors => {
    const noisy = pool.take(latentSize);
    window.writeLatent(noisy);
    const feeds: Tensors = {
      latent: float32Tensor(noisy, latentDims),
      timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(time)) },
    };
    if (!wantsLandmarks) return feeds;
    const landmarks = pool.take(length * LANDMARK_VALUES);
    window.writeLandmarks(landmarks);
    return { ...feeds, landmarks: float32Tensor(landmarks, [1, length, LANDMARK_COUNT, 2]) };
  };
  const heard = (fill: (target: Floats) => void): Tensors => {
    const values = pool.take(audioSize);
    fill(values);
    return { audio: float32Tensor(values, [1, length, tokens, audio.width]) };
  };

  const unguided = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const role = roles.denoising_unet_unconditional;
    const feeds = common(time, window, role?.inputs.landmarks !== undefined);
    const silence = heard((values) => values.fill(0));
    return float32Of(await call('denoising_unet_unconditional', { ...feeds, ...silence }), 'prediction');
  };
  const given = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const frames = await reference.of(window.sources);
    const mouths = await mouthsAt(window.sources[0] ?? -1);
    const feeds = common(time, window, roles.denoising_unet.inputs.landmarks !== undefined);
    const sound = heard((values) => window.writeAudio(values));
    const all = { ...feeds, ...sound, ...exemplarFeeds(mouths), ...frames };
    return float32Of(await call('denoising_unet', all), 'prediction');
  };

  return async (time, window) => {
    const scale = scaleAt(time);
    if (scale === 1) return given(time, window);
    const [unconditional, conditional] = await allEnded([unguided(time, window), given(time, window)]);
    for (let plane = 0; plane < latentSize; plane += area) {
      const without = unconditional.subarray(plane + span.from, plane + span.to);
      const guided = conditional.subarray(plane + span.from, plane + span.to);
      guide(without, guided, scale, guided);
    }
    pool.give(unconditional);
    return conditional;
  };
}
