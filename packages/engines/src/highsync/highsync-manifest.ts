import { manifestSchema, refuseMismatches, roleSchema, tensorSpecSchema } from '@lipsync/model-pack';
import { z } from 'zod';
import { highsyncParamsSchema } from './highsync-params';
import { highsyncTensors } from './highsync-tensors';

/** What the reference network remembers of a frame: one tensor per transformer block, in the order of the blocks. */
const BANK = /^bank_\d+$/;
const banksSchema = z.record(z.string().regex(BANK), tensorSpecSchema);
const denoisingRole = roleSchema(['latent', 'timestep', 'audio'], ['prediction'], ['landmarks']);

export const highsyncManifestSchema = manifestSchema(
  'highsync',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // latent [frames, C, h, w] → banks [frames, tokens, width].
    reference_unet: roleSchema(['latent'], []).extend({ outputs: banksSchema }),
    // latent [1, C, window, h, w], audio [1, window, 10·states, width], banks as the reference network's outputs.
    denoising_unet: denoisingRole.extend({ inputs: denoisingRole.shape.inputs.catchall(tensorSpecSchema) }),
    // The same network without banks, which guidance leads away from. Optional if guidance is 1.
    denoising_unet_unconditional: roleSchema(
      ['latent', 'timestep', 'audio'],
      ['prediction'],
      ['landmarks'],
    ).optional(),
    vae_decoder: roleSchema(['latent'], ['image']),
  },
  highsyncParamsSchema,
)
  .refine(({ roles: { reference_unet, denoising_unet } }) => {
    const taken = Object.keys(denoising_unet.inputs).filter(
      (name) => !(name in denoisingRole.shape.inputs.shape),
    );
    return taken.sort().join() === Object.keys(reference_unet.outputs).sort().join();
  }, 'the denoising network takes the banks that the reference network gives')
  .refine(
    ({ roles, params }) => params.guidance === 1 || roles.denoising_unet_unconditional !== undefined,
    'guidance needs the network without condition',
  )
  .superRefine(({ roles, params }, context) =>
    refuseMismatches(context, roles, highsyncTensors(params, roles.reference_unet.outputs)),
  );

export type HighsyncManifest = z.infer<typeof highsyncManifestSchema>;
