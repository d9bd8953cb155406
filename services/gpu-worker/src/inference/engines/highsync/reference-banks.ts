import { type HighsyncManifest, type LatentParams } from '@lipsync/model-pack';
import { type Tensors } from '../../sessions/session';
import { float32Of, float32Tensor } from '../../sessions/tensors';
import { type ArrayPool } from '../array-pool';
import { type CallRole } from '../call-role';
import { type LatentsBySource } from './source-latents';

/** One frame's banks, in the order of the roles' names. */
type Banks = readonly Float32Array[];

/**
 * What the reference network remembers of source frames. It depends on the frame alone, while HighSync's own code asks
 * again in every step: banks are kept, as many as fit, and the others made again.
 */
export interface ReferenceBanks {
  /**
   * From now on these are the latents of the frames in use, whose banks other frames' give way to. Of frames that will
   * not be shown again nothing is kept: memory follows what a timeline repeats, not how long it is.
   */
  use(latents: LatentsBySource, shownAgain: (source: number) => boolean): void;
  /** The banks of these frames one after the other, as feeds of the denoising network. */
  feeds(sources: readonly number[]): Promise<Tensors>;
}

export interface ReferenceBanksOptions {
  readonly manifest: HighsyncManifest;
  readonly call: CallRole;
  readonly pool: ArrayPool;
  /** Bytes of banks that are kept. */
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
  /** One request at a time: the next one may need what this one makes. */
  let previous: Promise<unknown> = Promise.resolve();

  const make = async (sources: readonly number[]): Promise<ReadonlyMap<number, Banks>> => {
    const outputs = await call('reference_unet', {
      latent: latentTensor(sources, latents, manifest.params.latent, pool),
    });
    shapes = names.map((name) => outputs[name]?.dims.slice(1) ?? []);
    const values = names.map((name) => float32Of(outputs, name));
    return new Map(
      sources.map((source, i) => [
        source,
        values.map((all) => {
          const size = all.length / sources.length;
          return all.subarray(i * size, (i + 1) * size);
        }),
      ]),
    );
  };

  const drop = (source: number): void => {
    keptBytes -= sizeOf(kept.get(source) ?? []);
    kept.delete(source);
  };

  const keep = (source: number, banks: Banks): void => {
    const bytes = sizeOf(banks);
    for (const other of kept.keys()) {
      if (keptBytes + bytes <= maxBytes) break;
      // A stretch goes through its frames in every step: giving up one of them for another would gain nothing.
      if (!latents.has(other)) drop(other);
    }
    if (keptBytes + bytes > maxBytes) return;
    // Copies: these are parts of the outputs of a whole call.
    kept.set(
      source,
      banks.map((bank) => bank.slice()),
    );
    keptBytes += bytes;
  };

  const fill = async (sources: readonly number[]): Promise<Tensors> => {
    const missing = [...new Set(sources)].filter((source) => !kept.has(source));
    const made: ReadonlyMap<number, Banks> = missing.length > 0 ? await make(missing) : new Map();
    const banksOf = sources.map((source) => kept.get(source) ?? made.get(source) ?? []);
    const feeds = names.map((name, bank) => {
      const size = banksOf[0]?.[bank]?.length ?? 0;
      const all = pool.take(sources.length * size);
      banksOf.forEach((banks, place) => all.set(banks[bank] ?? [], place * size));
      return [name, float32Tensor(all, [sources.length, ...(shapes[bank] ?? [])])] as const;
    });
    for (const [source, banks] of made) keep(source, banks);
    return Object.fromEntries(feeds);
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

function latentTensor(
  sources: readonly number[],
  latents: LatentsBySource,
  { channels, height, width }: LatentParams,
  pool: ArrayPool,
) {
  const size = channels * height * width;
  const all = pool.take(sources.length * size);
  sources.forEach((source, i) => {
    const latent = latents.get(source);
    if (!latent) throw new RangeError(`there is no latent of frame ${source}`);
    all.set(latent, i * size);
  });
  return float32Tensor(all, [sources.length, channels, height, width]);
}
