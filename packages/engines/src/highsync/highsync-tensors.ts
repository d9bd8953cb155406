import {
  type ExpectedRole,
  type ExpectedRoles,
  type ExpectedTensor,
  expectFloats,
  type Size,
  type TensorSpec,
  TIMESTEP,
} from '@lipsync/model-pack';
import { LANDMARK_COUNT } from '../face/landmarks68';
import { generatorTensors, heard } from '../generator-tensors';
import { type HighsyncParams } from './highsync-params';

/**
 * The tensors that the highsync engine feeds and reads with these parameters. `banks` are the outputs of the pack's
 * reference network.
 */
export function highsyncTensors(
  params: HighsyncParams,
  banks: Readonly<Record<string, TensorSpec>>,
): ExpectedRoles {
  const { latent, audio, window } = params;
  const { channels, height, width } = latent;
  const frames = expectFloats(1, channels, window, height, width);
  const denoising = {
    inputs: {
      latent: frames,
      timestep: TIMESTEP,
      audio: heard(audio, 1, window),
      landmarks: expectFloats(1, window, LANDMARK_COUNT, 2),
    },
    outputs: { prediction: frames },
  } satisfies ExpectedRole;
  return {
    ...generatorTensors(params, 1),
    // Called for one frame at a time, for frames whose banks are not cached, and so always with the same shape.
    reference_unet: {
      inputs: { latent: expectFloats(1, channels, height, width) },
      outputs: banksFor(1, banks),
    },
    denoising_unet: { ...denoising, inputs: { ...denoising.inputs, ...banksFor(window, banks) } },
    denoising_unet_unconditional: denoising,
  };
}

/** The banks of some frames. The networks may use any dimensions after the first, as long as they agree. */
function banksFor(
  frames: number,
  banks: Readonly<Record<string, TensorSpec>>,
): Record<string, ExpectedTensor> {
  const known = (size: number | string): Size => (typeof size === 'number' ? size : { atLeast: 1 });
  return Object.fromEntries(
    Object.entries(banks).map(([name, { dims }]) => [
      name,
      expectFloats(frames, ...dims.slice(1).map(known)),
    ]),
  );
}
