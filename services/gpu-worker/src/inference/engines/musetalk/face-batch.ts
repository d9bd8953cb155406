import { type BlendMask, type Box } from '@lipsync/lipsync';
import { type FaceBatch, type GeneratedFaces } from '../engine';
import { type CutFaces } from './cut-faces';

type Floats = Float32Array<ArrayBuffer>;

/** A face that waits for the generator. */
export interface WaitingFace {
  readonly outputIndex: number;
  readonly sourceIndex: number;
  readonly box: Box;
  /** Where the clip has shown this source frame before. */
  readonly mask: BlendMask | undefined;
}

/** Faces that wait for the generator. */
export class WaitingFaces implements FaceBatch {
  readonly faces: WaitingFace[] = [];
  /** Slots whose source frame another slot of the batch shows too, with that slot. */
  readonly twins: { readonly slot: number; readonly of: number }[] = [];

  constructor(
    readonly capacity: number,
    /** [capacity, 68, 2] in pixels of the crop. */
    readonly landmarks: Floats,
    /** [capacity, 2·channels, height, width], so far of the faces whose features are kept. */
    readonly latents: Floats,
    /** [capacity, lower half of a mask], likewise; empty when no face is parsed. */
    readonly masks: Floats,
    /** The faces whose features are not kept. */
    readonly cut: CutFaces,
  ) {}

  get size(): number {
    return this.faces.length;
  }
}

/** Where a generated face goes back to. */
export interface FacePlace {
  readonly box: Box;
  readonly mask: BlendMask;
}

/** Generated crops, to be pasted. */
export class PasteableFaces implements GeneratedFaces {
  constructor(
    readonly places: readonly FacePlace[],
    /** [capacity, 3, side, side] in [-1, 1]. */
    readonly images: Floats,
  ) {}

  get size(): number {
    return this.places.length;
  }
}
