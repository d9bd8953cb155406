import { highsyncUnets, type NetworkSize } from './networks';
import {
  generatorInputs,
  input,
  LABEL,
  latentOf,
  output,
  statesOf,
  tensors,
  writeCommonRoles,
  writeGraph,
  writeManifest,
  writeNetwork,
} from './untrained-networks';
import { type HighsyncManifest, type HighsyncParams, openPackFor, type Pack } from '@lipsync/engines';

/** Like `writeUntrainedMusetalk`, for highsync, with the schedule, guidance, window and mask of another pack. */
export async function writeUntrainedHighsync(
  dir: string,
  size: NetworkSize,
  like: HighsyncParams,
): Promise<Pack<HighsyncManifest>> {
  const roles = await writeCommonRoles(dir, size);
  const latent = latentOf(size);
  const mask = stretched(like.mask, latent.height / like.latent.height);
  const { reference, denoising, unconditional } = highsyncUnets(size, { window: like.window, mask });
  await writeManifest(dir, {
    ...LABEL,
    engine: 'highsync',
    name: 'untrained-highsync',
    roles: {
      ...roles,
      reference_unet: {
        ...(await writeNetwork(dir, reference)),
        inputs: { latent: input(reference, 'latent') },
        outputs: tensors(reference.graph.outputs),
      },
      denoising_unet: {
        ...(await writeNetwork(dir, denoising)),
        // All inputs, including the banks; those that every generator has are also named.
        inputs: { ...tensors(denoising.graph.inputs), ...generatorInputs(denoising) },
        outputs: { prediction: output(denoising) },
      },
      denoising_unet_unconditional: {
        ...(await writeGraph(dir, unconditional)),
        inputs: generatorInputs(unconditional),
        outputs: { prediction: output(unconditional) },
      },
    },
    params: {
      ...like,
      resolution: size.resolution,
      latent,
      audio: { whisper: 'openai', ...statesOf(size) },
      mask,
    },
  });
  return openPackFor('highsync', dir);
}

/** A rectangle of cells, converted to a grid finer by this factor. */
function stretched({ top, bottom, left, right }: HighsyncParams['mask'], by: number): HighsyncParams['mask'] {
  return { top: top * by, bottom: (bottom + 1) * by - 1, left: left * by, right: (right + 1) * by - 1 };
}
