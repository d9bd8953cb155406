import { type Affine, type AlignedCrop, type AlignedPaste } from '@lipsync/kernels';
import { type ClipInput, type FaceBatch, type GeneratedFaces } from '../engine';
import { mapConcurrently } from '../map-concurrently';
import { type EncodeFace } from './face-latents';

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
export interface WantedFace {
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
export class DecodedFaces implements GeneratedFaces {
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
