import { encodeModel, GraphBuilder } from '../../onnx';
import { fromBlocks, LATENT_CHANNELS, LATENT_SIDE, RESOLUTION, toBlocks } from './latent-blocks';

const IMAGE = ['batch', 3, RESOLUTION, RESOLUTION] as const;
const LATENT = ['batch', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE] as const;

/** image → latent. Exactly inverted by the decoder. */
export function encoderModel(): Uint8Array {
  const g = new GraphBuilder('space_to_depth');
  g.output('latent', toBlocks(g, g.input('image', 'float32', IMAGE)), 'float32', LATENT);
  return encodeModel(g.build());
}

/** latent → image, limited to the range of images as a learned decoder's users do. */
export function decoderModel(): Uint8Array {
  const g = new GraphBuilder('depth_to_space');
  const image = fromBlocks(g, g.input('latent', 'float32', LATENT));
  g.output('image', g.op('Clip', [image, -1, 1]), 'float32', IMAGE);
  return encodeModel(g.build());
}
