import { encodeModel, GraphBuilder } from '@lipsync/model-pack';
import { BLOCK, LATENT_CHANNELS } from '../builtin/latent-planes';
import { RESOLUTION } from './builtin-params';

export const LATENT_SIDE = RESOLUTION / BLOCK;
/** One bank token per cell of the latent. */
export const TOKENS = LATENT_SIDE * LATENT_SIDE;

/**
 * Latents of frames → one bank, with every cell of a frame as a token. The formulas need to remember only the picture.
 */
export function referenceUnetModel(): Uint8Array {
  const g = new GraphBuilder('cells_as_tokens');
  const latent = g.input('latent', 'float32', ['frames', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]);
  const rows = g.op('Reshape', [latent, g.ints([-1, LATENT_CHANNELS, TOKENS])]);
  g.output('bank_0', g.op('Transpose', [rows], { perm: [0, 2, 1] }), 'float32', [
    'frames',
    TOKENS,
    LATENT_CHANNELS,
  ]);
  return encodeModel(g.build());
}
