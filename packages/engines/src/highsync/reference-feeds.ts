import { type ArrayPool, type CallRole, float32Of, float32Tensor, type Tensors } from '../model';
import { type LatentParams } from '../params';
import { type HighsyncManifest } from './manifest';
import { type LatentsBySource } from './source-latents';

type Floats = Float32Array<ArrayBuffer>;

/** What the denoising network is fed of the source frames whose faces it generates. */
export interface ReferenceFeeds {
  /**
   * Sets the latents of the frames now in use. Nothing is kept of frames that will not be shown again: memory follows
   * what a timeline repeats, not how long it is.
   */
  use(latents: LatentsBySource, shownAgain: (source: number) => boolean): void;
  /** The feeds for these frames, concatenated. */
  of(sources: readonly number[]): Promise<Tensors>;
}

/**
 * As the pack's denoising network takes its reference: the latents, where its graph includes the reference network; the
 * banks of that network otherwise.
 */
export function createReferenceFeeds(
  { roles: { reference_unet }, params: { latent } }: HighsyncManifest,
  call: CallRole,
  pool: ArrayPool,
  /** Bytes of banks to keep. */
  bankBytes: number,
): ReferenceFeeds {
  return reference_unet
    ? createBankFeeds(Object.keys(reference_unet.outputs), latent, call, pool, bankBytes)
    : createLatentFeeds(latent, pool);
}

/** Nothing to compute or to keep here: the graph computes the banks in every step, and they never leave the device. */
function createLatentFeeds({ channels, height, width }: LatentParams, pool: ArrayPool): ReferenceFeeds {
  const size = channels * height * width;
  let latents: LatentsBySource = new Map();
  return {
    use(next) {
      latents = next;
    },
    async of(sources) {
      const reference = pool.take(sources.length * size);
      sources.forEach((source, i) => reference.set(latentOf(latents, source), i * size));
      return { reference: float32Tensor(reference, [sources.length, channels, height, width]) };
    },
  };
}

/** One frame's banks, in the order of the role's output names. */
type Banks = readonly Floats[];

/**
 * Feeds the reference network's features ("banks"). They depend on the frame alone, yet HighSync's own code recomputes
 * them in every step; here they are kept, as many as fit, and only the others are recomputed.
 */
function createBankFeeds(
  names: readonly string[],
  { channels, height, width }: LatentParams,
  call: CallRole,
  pool: ArrayPool,
  maxBytes: number,
): ReferenceFeeds {
  const kept = new Map<number, Banks>();
  let keptBytes = 0;
  let latents: LatentsBySource = new Map();
  /** [tokens, width] of every bank, known once the network has run. */
  let shapes: readonly (readonly number[])[] = [];
  /** One request at a time: the next one may need what this one computes. */
  let previous: Promise<unknown> = Promise.resolve();

  /** Runs one frame per call: at 512 pixels one keeps a device busy, and every new shape would have to be tuned for. */
  const make = async (source: number): Promise<Banks> => {
    const latent = pool.take(channels * height * width);
    latent.set(latentOf(latents, source));
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
      // All frames in use are visited again by the steps to come, so evicting one for another would gain nothing.
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
    async of(sources) {
      const filled = previous.then(() => fill(sources));
      previous = Promise.allSettled([filled]);
      return filled;
    },
  };
}

function sizeOf(banks: Banks): number {
  return banks.reduce((sum, bank) => sum + bank.byteLength, 0);
}

function latentOf(latents: LatentsBySource, source: number): Float32Array {
  const latent = latents.get(source);
  if (!latent) throw new RangeError(`there is no latent of frame ${source}`);
  return latent;
}
