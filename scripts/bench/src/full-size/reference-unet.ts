import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { bankName } from './bank-name';
import { Layers } from './layers';
import { placesOf, transformer } from './transformer';
import { pictureNorm, type Place, transformersOf, unetBody, type UnetShape } from './unet-body';
import { type WeightFile } from './weight-file';

/**
 * Stable Diffusion's UNet at timestep 0 without a condition, used only for the inputs of its transformers'
 * self-attention: latent [frames, inputs, side, side] to one bank [frames, side², channels] per transformer.
 */
export function referenceUnet(shape: UnetShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('reference_unet');
  const layers = new Layers(g, weights);
  const { inputs, heads, side } = shape;
  const latent = g.input('latent', 'float32', ['frames', inputs, side, side]);
  const last = transformersOf(shape) - 1;
  let count = 0;
  const keep = (bank: Value, place: Place): Value => {
    g.output(bankName(count++), bank, 'float32', ['frames', place.side ** 2, place.channels]);
    return bank;
  };
  unetBody(layers, latent, g.ints([0]), shape, {
    norm: pictureNorm(layers),
    transform(x, place) {
      const at = { ...place, heads };
      if (count < last) return transformer(layers, x, at, { seen: (places) => keep(places, place) });
      keep(placesOf(layers, x, at).normal, place);
      return x;
    },
    afterLayer: (x) => x,
    inMiddle: (x) => x,
  });
  return g.build();
}
