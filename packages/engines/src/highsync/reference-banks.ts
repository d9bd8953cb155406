import { type ArrayPool } from '../array-pool';
import { type CallRole } from '../call-role';
import { type Tensors } from '../tensor';
import { float32Of, float32Tensor } from '../tensors';
import { type HighsyncManifest } from './highsync-manifest';
import { type LatentsBySource } from './source-latents';

type Floats = Float32Array<ArrayBuffer>;

/** One frame's banks, in the order of the role's output names. */
type Banks = readonly Floats[];

/**
 * The reference network's features ("banks") of source frames. They depend on the frame alone, yet HighSync's own code
 * recomputes them in every step; here they are kept, as many as fit, and only the others are recomputed.
 */
export interface ReferenceBanks {
  /**
   * Sets the latents of the frames now in use; other frames' banks give way to theirs. Nothing is kept of frames that
   * will not be shown again: memory follows what a timeline repeats, not how long it is.
   */
  use(latents: LatentsBySource, shownAgain: (source: number) => boolean): void;
  /** The banks of these frames, concatenated, as feeds of the denoising network. */
  feeds(sources: readonly number[]): Promise<Tensors>;
}

export interface ReferenceBanksOptions {
  readonly manifest: HighsyncManifest;
  readonly call: CallRole;
  readonly pool: ArrayPool;
  /** Bytes of banks to keep. */
  readonly maxBytes: number;
}

export function createReferenceBanks({
  manifest,
  call,
  pool,
  maxBytes,
}: ReferenceBanksOptions): ReferenceBanks {
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
