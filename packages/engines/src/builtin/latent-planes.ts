import { type GraphBuilder, type Value } from '@lipsync/model-pack';

/** Side of the pixel blocks that become one cell of the latent. */
export const BLOCK = 8;
/** Colour is kept for every 2×2 pixels, because the videos that crops come from, and go back to, hold no more. */
export const CHROMA_BLOCK = BLOCK / 2;
const LUMA_CHANNELS = BLOCK * BLOCK;
const CHROMA_CHANNELS = 2 * CHROMA_BLOCK * CHROMA_BLOCK;
/** The latent of one 8×8 block: 64 brightnesses and 16 pairs of colour differences. */
export const LATENT_CHANNELS = LUMA_CHANNELS + CHROMA_CHANNELS;
/** The scale of the autoencoder that the official weights use, so that the caller's scaling is exercised. */
export const LATENT_SCALE = 0.18215;

/** A picture as brightness [n, 1, height, width] and colour differences [n, 2, height/2, width/2]. */
export interface Planes {
  readonly luma: Value;
  readonly chroma: Value;
}

/** [n, 96, rows, columns] of cells → planes. */
export function planesOf(g: GraphBuilder, cells: Value): Planes {
  const parts = g.multi('Split', [cells, g.ints([LUMA_CHANNELS, CHROMA_CHANNELS])], 2, { axis: 1 });
  const [luma, chroma] = parts;
  if (luma === undefined || chroma === undefined) throw new RangeError('Split gives two parts');
  return {
    luma: g.op('DepthToSpace', [luma], { blocksize: BLOCK }),
    chroma: g.op('DepthToSpace', [chroma], { blocksize: CHROMA_BLOCK }),
  };
}

/** The inverse of planesOf. */
export function cellsOf(g: GraphBuilder, { luma, chroma }: Planes): Value {
  const cells = [
    g.op('SpaceToDepth', [luma], { blocksize: BLOCK }),
    g.op('SpaceToDepth', [chroma], { blocksize: CHROMA_BLOCK }),
  ];
  return g.op('Concat', cells, { axis: 1 });
}
