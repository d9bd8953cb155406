import { manifestSchema, refuseMismatches, roleSchema } from '@lipsync/model-pack';
import { type z } from 'zod';
import { latentsyncParamsSchema } from './latentsync-params';
import { latentsyncTensors } from './latentsync-tensors';

export const latentsyncManifestSchema = manifestSchema(
  'latentsync',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // latent [1, 3·C + 1, frames, h, w]: noisy, mask, masked, reference. audio [frames, 10·states, width].
    unet3d: roleSchema(['latent', 'timestep', 'audio'], ['prediction'], ['landmarks']),
    vae_decoder: roleSchema(['latent'], ['image']),
  },
  latentsyncParamsSchema,
).superRefine(({ roles, params }, context) => refuseMismatches(context, roles, latentsyncTensors(params)));

export type LatentsyncManifest = z.infer<typeof latentsyncManifestSchema>;
