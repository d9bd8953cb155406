import { type ExpectedRoles, expectFloats, type Size, TIMESTEP } from '@lipsync/model-pack';
import { LANDMARK_COUNT } from '../face/landmarks68';
import { generatorTensors, heard } from '../generator-tensors';
import { type LatentsyncParams } from './latentsync-params';

/** The tensors that the latentsync engine feeds and reads with these parameters. */
export function latentsyncTensors(params: LatentsyncParams): ExpectedRoles {
  const { latent, audio, window } = params;
  const { channels, height, width } = latent;
  // The last window of a stretch may be of any shorter length.
  const frames: Size = window === 1 ? 1 : 'any';
  return {
    ...generatorTensors(params, 1),
    unet3d: {
      inputs: {
        latent: expectFloats(1, 3 * channels + 1, frames, height, width),
        timestep: TIMESTEP,
        audio: heard(audio, frames),
        landmarks: expectFloats(frames, LANDMARK_COUNT, 2),
      },
      outputs: { prediction: expectFloats(1, channels, frames, height, width) },
    },
  };
}
