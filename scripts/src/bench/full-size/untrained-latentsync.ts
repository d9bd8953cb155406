import { latentsyncUnet, type NetworkSize } from './networks';
import {
  generatorInputs,
  LABEL,
  latentOf,
  output,
  statesOf,
  writeCommonRoles,
  writeManifest,
  writeNetwork,
} from './untrained-networks';
import { type LatentsyncManifest, type LatentsyncParams, openPackFor, type Pack } from '@lipsync/engines';

/** Like `writeUntrainedMusetalk`, for latentsync, with the schedule, guidance and mask of another pack. */
export async function writeUntrainedLatentsync(
  dir: string,
  size: NetworkSize,
  like: LatentsyncParams,
): Promise<Pack<LatentsyncManifest>> {
  const roles = await writeCommonRoles(dir, size);
  const generator = latentsyncUnet(size);
  await writeManifest(dir, {
    ...LABEL,
    engine: 'latentsync',
    name: 'untrained-latentsync',
    roles: {
      ...roles,
      unet3d: {
        ...(await writeNetwork(dir, generator)),
        inputs: generatorInputs(generator),
        outputs: { prediction: output(generator) },
      },
    },
    params: {
      ...like,
      resolution: size.resolution,
      latent: latentOf(size),
      audio: { whisper: 'openai', ...statesOf(size) },
    },
  });
  return openPackFor('latentsync', dir);
}
