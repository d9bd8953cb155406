import { guide } from '../diffusion/ddim';
import { createExemplarFeeds } from '../exemplar-inputs';
import { LANDMARK_COUNT, LANDMARK_VALUES } from '../face/landmarks';
import { type MouthExemplars } from '../face/mouth-exemplars';
import { allOf } from '../in-order';
import { type ArrayPool, type CallRole, float32Of, float32Tensor, type Tensors } from '../model';
import { WINDOW_STEPS } from '../speech/windows';
import { type HighsyncManifest } from './manifest';
import { generatedSpan } from './mask';
import { type LatentsBySource } from './source-latents';

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

/**
 * The network's prediction for a window at a diffusion time, [C, window, h, w], in an array of the pool; guided where
 * something is generated, which is all that anyone needs of it.
 */
export type PredictWindow = (time: number, window: NetworkWindow) => Promise<Floats>;

/**
 * Classifier-free guidance: moves the prediction away from the one without reference and sound. The two are separate
 * calls on one window: together they would need twice the memory. The unconditional one goes first, because assembling
 * the banks of the other takes time.
 */
export function createPredictWindow(
  manifest: HighsyncManifest,
  { banks, mouths }: { readonly banks: ReferenceBanks; readonly mouths: MouthExemplars },
  call: CallRole,
  pool: ArrayPool,
): PredictWindow {
  const { roles, params } = manifest;
  const { window: frames, latent, audio, guidance } = params;
  const tokens = WINDOW_STEPS * audio.states;
  const area = latent.height * latent.width;
  const span = generatedSpan(latent.width, params.mask);
  const latentDims = [1, latent.channels, frames, latent.height, latent.width];
  const latentSize = frames * latent.channels * area;
  const audioSize = frames * tokens * audio.width;
  const exemplarFeeds = createExemplarFeeds(roles.denoising_unet, pool);

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

  const unguided = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const role = roles.denoising_unet_unconditional;
    const feeds = common(time, window, role?.inputs.landmarks !== undefined);
    const silence = heard((values) => values.fill(0));
    return float32Of(await call('denoising_unet_unconditional', { ...feeds, ...silence }), 'prediction');
  };
  const given = async (time: number, window: NetworkWindow): Promise<Floats> => {
    const reference = await banks.feeds(window.sources);
    const feeds = common(time, window, roles.denoising_unet.inputs.landmarks !== undefined);
    const sound = heard((values) => window.writeAudio(values));
    const exemplars = exemplarFeeds(mouths);
    const all = { ...feeds, ...sound, ...exemplars, ...reference };
    return float32Of(await call('denoising_unet', all), 'prediction');
  };

  return async (time, window) => {
    if (guidance === 1) return given(time, window);
    const [unconditional, conditional] = await allOf([unguided(time, window), given(time, window)]);
    for (let plane = 0; plane < latentSize; plane += area) {
      const without = unconditional.subarray(plane + span.from, plane + span.to);
      const guided = conditional.subarray(plane + span.from, plane + span.to);
      guide(without, guided, guidance, guided);
    }
    pool.give(unconditional);
    return conditional;
  };
}

/** One frame's banks, in the order of the role's output names. */
type Banks = readonly Floats[];

/**
 * The reference network's features ("banks") of source frames. They depend on the frame alone, yet HighSync's own code
 * recomputes them in every step; here they are kept, as many as fit, and only the others are recomputed.
 */
interface ReferenceBanks {
  /**
   * Sets the latents of the frames now in use; other frames' banks give way to theirs. Nothing is kept of frames that
   * will not be shown again: memory follows what a timeline repeats, not how long it is.
   */
  use(latents: LatentsBySource, shownAgain: (source: number) => boolean): void;
  /** The banks of these frames, concatenated, as feeds of the denoising network. */
  feeds(sources: readonly number[]): Promise<Tensors>;
}

export function createReferenceBanks(
  manifest: HighsyncManifest,
  call: CallRole,
  pool: ArrayPool,
  /** Bytes of banks to keep. */
  maxBytes: number,
): ReferenceBanks {
  const names = Object.keys(manifest.roles.reference_unet.outputs);
  const kept = new Map<number, Banks>();
  let keptBytes = 0;
  let latents: LatentsBySource = new Map();
  /** [tokens, width] of every bank, known once the network has run. */
  let shapes: readonly (readonly number[])[] = [];
  /** One request at a time: the next one may need what this one computes. */
  let previous: Promise<unknown> = Promise.resolve();

  /** Runs one frame per call: at 512 pixels one keeps a device busy, and every new shape would have to be tuned for. */
  const make = async (source: number): Promise<Banks> => {
    const { channels, height, width } = manifest.params.latent;
    const known = latents.get(source);
    if (!known) throw new RangeError(`there is no latent of frame ${source}`);
    const latent = pool.take(channels * height * width);
    latent.set(known);
    const outputs = await call('reference_unet', {
      latent: float32Tensor(latent, [1, channels, height, width]),
    });
    shapes = names.map((name) => outputs[name]?.dims.slice(1) ?? []);
    return names.map((name) => float32Of(outputs, name));
  };

  const drop = (source: number): void => {
    keptBytes -= sizeOf(kept.get(source) ?? []);
    kept.delete(source);
  };

  /** Keeps a frame's banks; returns whether there was room. */
  const keep = (source: number, banks: Banks): boolean => {
    const bytes = sizeOf(banks);
    for (const other of kept.keys()) {
      if (keptBytes + bytes <= maxBytes) break;
      // A stretch visits all of its frames in every step, so evicting one of them for another would gain nothing.
      if (!latents.has(other)) drop(other);
    }
    if (keptBytes + bytes > maxBytes) return false;
    kept.set(source, banks);
    keptBytes += bytes;
    return true;
  };

  const fill = async (sources: readonly number[]): Promise<Tensors> => {
    const feeds: Floats[] = [];
    for (const source of new Set(sources)) {
      const known = kept.get(source);
      const banks = known ?? (await make(source));
      banks.forEach((bank, i) => {
        const all = (feeds[i] ??= pool.take(sources.length * bank.length));
        sources.forEach((other, place) => {
          if (other === source) all.set(bank, place * bank.length);
        });
      });
      if (!known && !keep(source, banks)) for (const bank of banks) pool.give(bank);
    }
    return Object.fromEntries(
      feeds.map((all, i) => [names[i] ?? '', float32Tensor(all, [sources.length, ...(shapes[i] ?? [])])]),
    );
  };

  return {
    use(next, shownAgain) {
      latents = next;
      for (const source of kept.keys()) if (!next.has(source) && !shownAgain(source)) drop(source);
    },
    async feeds(sources) {
      const filled = previous.then(() => fill(sources));
      previous = Promise.allSettled([filled]);
      return filled;
    },
  };
}

function sizeOf(banks: Banks): number {
  return banks.reduce((sum, bank) => sum + bank.byteLength, 0);
}
