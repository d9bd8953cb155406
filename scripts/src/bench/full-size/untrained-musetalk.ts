import { musetalkUnet, type NetworkSize } from './networks';
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
import { type MusetalkManifest, openPackFor, type Pack } from '@lipsync/engines';

/** Writes a musetalk pack with untrained networks: as costly to run as the published one, and of no other use. */
export async function writeUntrainedMusetalk(
  dir: string,
  size: NetworkSize,
): Promise<Pack<MusetalkManifest>> {
  const roles = await writeCommonRoles(dir, size);
  const generator = musetalkUnet(size);
  await writeManifest(dir, {
    ...LABEL,
    engine: 'musetalk',
    name: 'untrained-musetalk',
    roles: {
      ...roles,
      unet: {
        ...(await writeNetwork(dir, generator)),
        inputs: generatorInputs(generator),
        outputs: { latent: output(generator) },
      },
    },
    params: {
      resolution: size.resolution,
      latent: latentOf(size),
      audio: { whisper: 'hf', ...statesOf(size), positionalEncoding: 'outside' },
      timestep: 0,
      batch: 8,
      crop: { shift: 0, margin: 10 },
      mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
    },
  });
  return openPackFor('musetalk', dir);
}
