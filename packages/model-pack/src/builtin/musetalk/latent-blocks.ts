import { type GraphBuilder, type Value } from '../../onnx';

/** Side of the face crop. */
export const RESOLUTION = 256;
/** Side of the pixel blocks that become channels. */
export const BLOCK = 8;
/** Latent of one frame: every pixel of an 8×8 block of three colours, so nothing is lost. */
export const LATENT_CHANNELS = 3 * BLOCK * BLOCK;
export const LATENT_SIDE = RESOLUTION / BLOCK;
/** Same scale as the autoencoder that the official weights use, so that the caller's scaling is exercised. */
export const LATENT_SCALE = 0.18215;

export function toBlocks(g: GraphBuilder, image: Value): Value {
  return g.op('SpaceToDepth', [image], { blocksize: BLOCK });
}

export function fromBlocks(g: GraphBuilder, latent: Value): Value {
  return g.op('DepthToSpace', [latent], { blocksize: BLOCK });
}
