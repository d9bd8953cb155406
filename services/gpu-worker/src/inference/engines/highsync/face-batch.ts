import { type FaceBatch, type GeneratedFaces } from '../engine';

type Floats = Float32Array<ArrayBuffer>;

/** Output frames of one stretch whose faces are wanted. */
export class WantedFaces implements FaceBatch {
  readonly outputs: number[] = [];
  /** Which stretch they are of; undefined while there are none. */
  stretch: number | undefined;

  constructor(readonly capacity: number) {}

  get size(): number {
    return this.outputs.length;
  }
}

/** Generated crops, to be pasted. */
export class DecodedFaces implements GeneratedFaces {
  constructor(
    readonly outputs: readonly number[],
    /** [3, side, side] in [-1, 1] each. */
    readonly images: readonly Floats[],
  ) {}

  get size(): number {
    return this.outputs.length;
  }
}
