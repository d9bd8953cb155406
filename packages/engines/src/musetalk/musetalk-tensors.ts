import { type ExpectedRoles, expectFloats, TIMESTEP } from '@lipsync/model-pack';
import { LANDMARK_COUNT } from '../face/landmarks68';
import { generatorTensors, heard } from '../generator-tensors';
import { type MusetalkParams } from './musetalk-params';
import { PARSING_SIDE } from './parsing-square';

/** The number of classes of BiSeNet. */
const CLASSES = 19;

/** The tensors that the musetalk engine feeds and reads with these parameters. */
export function musetalkTensors(params: MusetalkParams): ExpectedRoles {
  const { latent, audio, batch } = params;
  const { channels, height, width } = latent;
  return {
    ...generatorTensors(params, batch),
    unet: {
      inputs: {
        latent: expectFloats(batch, 2 * channels, height, width),
        timestep: TIMESTEP,
        audio: heard(audio, batch),
        landmarks: expectFloats(batch, LANDMARK_COUNT, 2),
      },
      outputs: { latent: expectFloats(batch, channels, height, width) },
    },
    face_parsing: {
      inputs: { image: expectFloats(1, 3, PARSING_SIDE, PARSING_SIDE) },
      outputs: { scores: expectFloats(1, CLASSES, PARSING_SIDE, PARSING_SIDE) },
    },
  };
}
