import { modelFile } from '@lipsync/model-pack';
import { decoderModel, encoderModel } from './autoencoder';
import { TO_RGB } from './colours';
import { floatTensor } from './float-tensor';
import { BLOCK, LATENT_CHANNELS, LATENT_SCALE } from './latent-planes';

const ENCODER = 'vae-encoder.onnx';
const DECODER = 'vae-decoder.onnx';
/** A grey picture, in whose latent only the brightness is not 0. */
const GREY = 0.5;
const MEAN_OF_GREY = (GREY * BLOCK * BLOCK) / LATENT_CHANNELS;
/** A latent of one value, which decodes to a uniform colour. Its mean is that over red, green and blue. */
const LEVEL = 0.2;
const MEAN_OF_LEVEL = (LEVEL * TO_RGB.flat().reduce((sum, weight) => sum + weight, 0)) / TO_RGB.length;

/** Both halves of the built-in autoencoder for crops of `side` pixels: files, roles of a manifest, and parameters. */
export function autoencoder(side: number) {
  const [encoder, decoder] = [encoderModel(side), decoderModel(side)];
  const cells = side / BLOCK;
  const image = floatTensor('image', ['batch', 3, side, side], [-1, 1]);
  const latent = floatTensor('latent', ['batch', LATENT_CHANNELS, cells, cells]);
  return {
    models: { [ENCODER]: encoder, [DECODER]: decoder },
    roles: {
      vae_encoder: {
        ...modelFile(ENCODER, encoder),
        inputs: { image },
        outputs: { latent },
        probe: {
          dims: { batch: 1 },
          fill: { image: GREY },
          means: { latent: MEAN_OF_GREY },
          tolerance: 1e-5,
        },
      },
      vae_decoder: {
        ...modelFile(DECODER, decoder),
        inputs: { latent },
        outputs: { image },
        probe: {
          dims: { batch: 1 },
          fill: { latent: LEVEL },
          means: { image: MEAN_OF_LEVEL },
          tolerance: 1e-5,
        },
      },
    },
    latent: { channels: LATENT_CHANNELS, height: cells, width: cells, scale: LATENT_SCALE },
  };
}
