import { type Box } from '@lipsync/lipsync';

type Floats = Float32Array<ArrayBuffer>;

interface CutFace {
  /** Where its features belong. */
  readonly slot: number;
  readonly box: Box;
  /** What the parser is to see; absent where there is no parser, or the mask is known. */
  readonly square: Floats | undefined;
}

/** Faces copied out of their frames, whose features are still to be computed. */
export class CutFaces {
  readonly faces: CutFace[] = [];

  /** [batch, 3, side, side] in [-1, 1]. */
  constructor(readonly crops: Floats) {}
}
