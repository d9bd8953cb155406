import { manifestSchema, refuseMismatches, roleSchema } from '@lipsync/model-pack';
import { type z } from 'zod';
import { musetalkParamsSchema } from './musetalk-params';
import { musetalkTensors } from './musetalk-tensors';

export const musetalkManifestSchema = manifestSchema(
  'musetalk',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // Landmarks: 68 (x, y) pairs in pixels of the crop, for generators that need to know where the face is.
    unet: roleSchema(['latent', 'timestep', 'audio'], ['latent'], ['landmarks']),
    vae_decoder: roleSchema(['latent'], ['image']),
    // BiSeNet: [1, 3, 512, 512] in ImageNet's normalisation → scores of its 19 classes.
    face_parsing: roleSchema(['image'], ['scores']).optional(),
  },
  musetalkParamsSchema,
).superRefine(({ roles, params }, context) => refuseMismatches(context, roles, musetalkTensors(params)));

export type MusetalkManifest = z.infer<typeof musetalkManifestSchema>;
