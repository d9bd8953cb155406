import { type Affine, type AlignedCrop } from '@lipsync/kernels';
import { type ClipInput, type FeatureLayout } from '../engine';
import { allEnded, mapConcurrently } from '../in-order';
import { copyScaledMean } from '../latents';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from '../model';
import { type Instant } from '../pace';
import { type ImagesByInstant, type InstantBatch } from '../paced-clip';
import { type LatentsyncParams } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** What the windows of one clip need. */
export interface WindowParts {
  readonly clip: ClipInput;
  readonly params: LatentsyncParams;
  readonly pool: ArrayPool;
  readonly instants: readonly Instant[];
  /** The transform from a source frame to its crop. */
  transformOf(source: number): Affine;
  readonly crop: AlignedCrop;
  readonly encode: EncodeFace;
  /**
   * Generates the crops that a window shows, each [3, side, side] in [-1, 1]; no longer needs the latents when it
   * resolves.
   */
  generate(faces: readonly WantedFace[], latents: readonly Floats[]): Promise<readonly Floats[]>;
}

/** A face to generate. */
interface WantedFace {
  readonly index: number;
  readonly instant: Instant;
  /** From the frame to the crop. */
  readonly transform: Affine;
  /** The crop [3, side, side], or its latents if it was encoded before. */
  readonly seen: { readonly crop: Floats } | { readonly latents: Floats };
}

/** Consecutive instants whose faces are generated together. */
export class FaceWindow implements InstantBatch {
  private readonly faces: WantedFace[] = [];

  constructor(private readonly parts: WindowParts) {}

  take(frame: Uint8Array, index: number): void {
    const instant = this.parts.instants[index];
    if (!instant) throw new RangeError(`there is no instant ${index}`);
    const transform = this.parts.transformOf(instant.source);
    this.faces.push({ index, instant, transform, seen: this.see(frame, instant.source, transform) });
  }

  async infer(): Promise<ImagesByInstant> {
    const { clip, pool } = this.parts;
    const latents = await mapConcurrently(this.faces, (face) => this.latentsOf(face), clip.signal);
    const images = await this.parts.generate(this.faces, latents);
    for (const array of latents) pool.give(array);
    const shown = this.faces.filter(({ instant }) => instant.shown);
    return new Map(images.map((image, i) => [shown[i]?.index ?? -1, image]));
  }

  private see(frame: Uint8Array, source: number, transform: Affine): WantedFace['seen'] {
    const { clip, params, pool, crop } = this.parts;
    if (clip.features.has(source)) {
      const latents = pool.take(latentLayout(params.latent).values);
      clip.features.read(source, latents, 0);
      return { latents };
    }
    const cropped = pool.take(3 * params.resolution ** 2);
    crop(frame, transform, cropped, 0);
    return { crop: cropped };
  }

  private async latentsOf({ instant, seen }: WantedFace): Promise<Floats> {
    if ('latents' in seen) return seen.latents;
    const { clip, encode } = this.parts;
    const latents = await encode(seen.crop);
    clip.features.write(instant.source, latents, 0);
    return latents;
  }
}

/** What latentsync keeps of a source frame: the result of `EncodeFace`. */
export function latentLayout({ channels, height, width }: LatentsyncParams['latent']): FeatureLayout {
  return { version: '2', values: 2 * channels * height * width };
}

/**
 * Encodes a crop [3, side, side], whose array is consumed, to the scaled latents of the masked and of the whole crop,
 * [2, C, h, w], in an array of the pool. One picture per call of the graph: at 512 pixels a single picture keeps any
 * device busy, and the encoder's memory grows with each.
 */
type EncodeFace = (crop: Floats) => Promise<Floats>;

/** `inpaint` is 1 where the face is generated; there the encoder sees mid-gray. */
export function createEncodeFace(
  { resolution: side, latent }: LatentsyncParams,
  inpaint: Float32Array,
  call: CallRole,
  pool: ArrayPool,
): EncodeFace {
  const area = side * side;
  const size = latent.channels * latent.height * latent.width;

  const encode = async (image: Floats): Promise<Floats> =>
    float32Of(await call('vae_encoder', { image: float32Tensor(image, [1, 3, side, side]) }), 'latent');

  return async (crop) => {
    const masked = pool.take(crop.length);
    for (let plane = 0; plane < crop.length; plane += area) {
      for (let i = 0; i < area; i++) masked[plane + i] = (crop[plane + i] ?? 0) * (1 - (inpaint[i] ?? 0));
    }
    const encodings = await allEnded([encode(masked), encode(crop)]);
    const latents = pool.take(2 * size);
    encodings.forEach((moments, part) => {
      copyScaledMean(moments, 0, size, latent.scale, latents, part * size);
      pool.give(moments);
    });
    return latents;
  };
}
