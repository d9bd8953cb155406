import { type Affine } from '@lipsync/lipsync';
import { type FaceBatch, type GeneratedFaces } from '../engine';

type Floats = Float32Array<ArrayBuffer>;

/** A face that is wanted in an output frame. */
export interface WantedFace {
  readonly output: number;
  readonly source: number;
  /** From the frame to the crop. */
  readonly transform: Affine;
  /** The crop [3, side, side], or, where it was encoded before, its latents. */
  readonly seen: { readonly crop: Floats } | { readonly latents: Floats };
}

/** Consecutive output frames whose faces are generated together. */
export class FaceWindow implements FaceBatch {
  readonly faces: WantedFace[] = [];

  constructor(readonly capacity: number) {}

  get size(): number {
    return this.faces.length;
  }
}

/** Generated crops, to be pasted. */
export class DecodedFaces implements GeneratedFaces {
  constructor(
    readonly faces: readonly WantedFace[],
    /** [3, side, side] in [-1, 1] each. */
    readonly images: readonly Floats[],
  ) {}

  get size(): number {
    return this.faces.length;
  }
}
