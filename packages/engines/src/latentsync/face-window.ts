import { type Affine, type AlignedCrop, type AlignedPaste } from '@lipsync/kernels';
import { type ClipInput, type FaceBatch, type FeatureLayout, type GeneratedFaces } from '../engine';
import { allOf, mapConcurrently } from '../in-order';
import { copyScaledMean } from '../latents';
import { type ArrayPool, type CallRole, float32Of, float32Tensor } from '../model';
import { type LatentsyncParams } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** What the windows of one clip need. */
export interface WindowParts {
  /** Number of frames in the longest window. */
  readonly window: number;
  /** The stretch that an output frame belongs to, see `outputStretches`. */
  stretchOf(output: number): number;
  /** The transform from a source frame to its crop; null when the frame has no face. */
  transformOf(source: number): Affine | null;
  readonly crop: AlignedCrop;
  readonly paste: AlignedPaste;
  newCrop(): Floats;
  /** An array for the latents of a source frame. */
  newLatents(): Floats;
  readonly encode: EncodeFace;
  /** Generates the crops of a window, each [3, side, side] in [-1, 1]; no longer needs the latents when it resolves. */
  generate(faces: readonly WantedFace[], latents: readonly Floats[]): Promise<readonly Floats[]>;
  /** Returns the array of a crop or of latents for reuse. */
  give(array: Floats): void;
}

/** A face needed in an output frame. */
interface WantedFace {
  readonly output: number;
  readonly source: number;
  /** From the frame to the crop. */
  readonly transform: Affine;
  /** The crop [3, side, side], or its latents if it was encoded before. */
  readonly seen: { readonly crop: Floats } | { readonly latents: Floats };
}

/** Consecutive output frames whose faces are generated together. */
export class FaceWindow implements FaceBatch {
  readonly faces: WantedFace[] = [];

  constructor(
    private readonly clip: Pick<ClipInput, 'sources' | 'features' | 'signal'>,
    private readonly parts: WindowParts,
  ) {}

  get size(): number {
    return this.faces.length;
  }

  joins(output: number): boolean {
    const last = this.faces.at(-1)?.output;
    return last === undefined || this.parts.stretchOf(output) === this.parts.stretchOf(last);
  }

  take(frame: Uint8Array, output: number): number | null {
    const source = this.clip.sources[output] ?? -1;
    const transform = this.parts.transformOf(source);
    if (transform === null) return null;
    if (this.size >= this.parts.window) throw new RangeError('the batch is full');
    return this.faces.push({ output, source, transform, seen: this.see(frame, source, transform) }) - 1;
  }

  async infer(): Promise<DecodedFaces> {
    const latents = await mapConcurrently(this.faces, (face) => this.latentsOf(face), this.clip.signal);
    const images = await this.parts.generate(this.faces, latents);
    for (const array of latents) this.parts.give(array);
    return new DecodedFaces(this.faces, images, this.parts);
  }

  private see(frame: Uint8Array, source: number, transform: Affine): WantedFace['seen'] {
    if (this.clip.features.has(source)) {
      const latents = this.parts.newLatents();
      this.clip.features.read(source, latents, 0);
      return { latents };
    }
    const crop = this.parts.newCrop();
    this.parts.crop(frame, transform, crop, 0);
    return { crop };
  }

  private async latentsOf({ source, seen }: WantedFace): Promise<Floats> {
    if ('latents' in seen) return seen.latents;
    const latents = await this.parts.encode(seen.crop);
    this.clip.features.write(source, latents, 0);
    return latents;
  }
}

/** Generated crops, ready to be pasted. */
class DecodedFaces implements GeneratedFaces {
  constructor(
    readonly faces: readonly WantedFace[],
    /** Each [3, side, side] in [-1, 1]. */
    readonly images: readonly Floats[],
    private readonly parts: Pick<WindowParts, 'paste' | 'give'>,
  ) {}

  put(slot: number, frame: Uint8Array): void {
    const face = this.faces[slot];
    const image = this.images[slot];
    if (!face || !image) throw new RangeError(`slot ${slot} holds no face`);
    this.parts.paste(frame, face.transform, image, 0);
  }

  recycle(): void {
    for (const image of this.images) this.parts.give(image);
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
  { resolution: side, latent }: Pick<LatentsyncParams, 'resolution' | 'latent'>,
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
    for (let i = 0; i < masked.length; i++) masked[i] = (crop[i] ?? 0) * (1 - (inpaint[i % area] ?? 0));
    const encodings = await allOf([encode(masked), encode(crop)]);
    const latents = pool.take(2 * size);
    encodings.forEach((moments, part) => {
      copyScaledMean(moments, 0, size, latent.scale, latents, part * size);
      pool.give(moments);
    });
    return latents;
  };
}
