import { type Box } from '@lipsync/kernels';

type Floats = Float32Array<ArrayBuffer>;

interface CutFace {
  /** The slot that its features are written to. */
  readonly slot: number;
  readonly box: Box;
  /** The parser's input; undefined when there is no parser, or the mask is already known. */
  readonly square: Floats | undefined;
}

/** Faces copied out of their frames, before their features are computed. */
export class CutFaces {
  readonly faces: CutFace[] = [];

  /** [batch, 3, side, side] in [-1, 1]. */
  constructor(readonly crops: Floats) {}
}
