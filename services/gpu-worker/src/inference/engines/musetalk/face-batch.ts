import { type BlendMask, type Box } from '@lipsync/lipsync';
import { type FaceBatch, type GeneratedFaces } from '../engine';

type Floats = Float32Array<ArrayBuffer>;

/** Where a face goes back to. */
export interface FacePlace {
  readonly box: Box;
  readonly mask: BlendMask;
}

/** Crops that wait for the generator. */
export class CroppedFaces implements FaceBatch {
  readonly places: FacePlace[] = [];
  readonly outputFrames: number[] = [];

  constructor(
    readonly capacity: number,
    /** [capacity, 3, side, side] in [-1, 1]. */
    readonly crops: Floats,
    /** [capacity, 68, 2] in pixels of the crop. */
    readonly landmarks: Floats,
  ) {}

  get size(): number {
    return this.places.length;
  }
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
