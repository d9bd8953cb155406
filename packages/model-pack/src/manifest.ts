import { z } from 'zod';
import { analyzerParamsSchema } from './analyzer-params';
import { type Misfit, misfits } from './fitting-tensors';
import { highsyncParamsSchema } from './highsync-params';
import { highsyncTensors } from './highsync-tensors';
import { latentsyncParamsSchema } from './latentsync-params';
import { latentsyncTensors } from './latentsync-tensors';
import { musetalkParamsSchema } from './musetalk-params';
import { musetalkTensors } from './musetalk-tensors';
import { roleSchema } from './role';
import { tensorSpecSchema } from './tensor-spec';

/** Execution providers of ONNX Runtime that packs can be made for. */
export const PROVIDERS = ['cuda', 'webgpu', 'cpu'] as const;
export type Provider = (typeof PROVIDERS)[number];

const commonFields = {
  /** Version of the format of this file. */
  format: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$/),
  /** SPDX expression, and the origin of the weights. */
  licence: z.strictObject({ spdx: z.string().min(1), source: z.string().min(1) }),
  /**
   * Execution providers that the files are made for, preferred first. Graphs optimised for one may not load in another.
   */
  providers: z.array(z.enum(PROVIDERS)).min(1),
};

const analyzerManifestSchema = z.strictObject({
  ...commonFields,
  engine: z.literal('analyzer'),
  roles: z.strictObject({
    face_detector: roleSchema(['image'], ['boxes', 'scores']),
    landmarks68: roleSchema(['image'], ['points']),
  }),
  params: analyzerParamsSchema,
});

function addAll(context: z.RefinementCtx, found: readonly Misfit[]): void {
  for (const { path, message } of found) context.addIssue({ code: 'custom', path: [...path], message });
}

const musetalkManifestSchema = z
  .strictObject({
    ...commonFields,
    engine: z.literal('musetalk'),
    roles: z.strictObject({
      whisper_encoder: roleSchema(['mel'], ['states']),
      vae_encoder: roleSchema(['image'], ['latent']),
      // Landmarks: 68 (x, y) pairs in pixels of the crop, for generators that need to know where the face is.
      unet: roleSchema(['latent', 'timestep', 'audio'], ['latent'], ['landmarks']),
      vae_decoder: roleSchema(['latent'], ['image']),
      // BiSeNet: [1, 3, 512, 512] in ImageNet's normalisation → scores of its 19 classes.
      face_parsing: roleSchema(['image'], ['scores']).optional(),
    }),
    params: musetalkParamsSchema,
  })
  .superRefine(({ roles, params }, context) => addAll(context, misfits(roles, musetalkTensors(params))));

const latentsyncManifestSchema = z
  .strictObject({
    ...commonFields,
    engine: z.literal('latentsync'),
    roles: z.strictObject({
      whisper_encoder: roleSchema(['mel'], ['states']),
      vae_encoder: roleSchema(['image'], ['latent']),
      // latent [1, 3·C + 1, frames, h, w]: noisy, mask, masked, reference. audio [frames, 10·states, width].
      unet3d: roleSchema(['latent', 'timestep', 'audio'], ['prediction'], ['landmarks']),
      vae_decoder: roleSchema(['latent'], ['image']),
    }),
    params: latentsyncParamsSchema,
  })
  .superRefine(({ roles, params }, context) => addAll(context, misfits(roles, latentsyncTensors(params))));

/** What the reference network remembers of a frame: one tensor per transformer block, in the order of the blocks. */
const BANK = /^bank_\d+$/;
const banksSchema = z.record(z.string().regex(BANK), tensorSpecSchema);
const denoisingRole = roleSchema(['latent', 'timestep', 'audio'], ['prediction'], ['landmarks']);

const highsyncManifestSchema = z
  .strictObject({
    ...commonFields,
    engine: z.literal('highsync'),
    roles: z.strictObject({
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
    }),
    params: highsyncParamsSchema,
  })
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
    addAll(context, misfits(roles, highsyncTensors(params, roles.reference_unet.outputs))),
  );

/** pack.json: what a pack is for, its files by role, and the parameters that the engine's code needs. */
export const manifestSchema = z.discriminatedUnion('engine', [
  analyzerManifestSchema,
  musetalkManifestSchema,
  latentsyncManifestSchema,
  highsyncManifestSchema,
]);

export type Manifest = z.infer<typeof manifestSchema>;
/** What packs are made for: the engines, and the analyser that finds faces for all of them. */
export const PACK_ENGINES = [
  'analyzer',
  'musetalk',
  'latentsync',
  'highsync',
] as const satisfies Manifest['engine'][];
export type PackEngine = Manifest['engine'];
export type AnalyzerManifest = Extract<Manifest, { engine: 'analyzer' }>;
export type MusetalkManifest = Extract<Manifest, { engine: 'musetalk' }>;
export type LatentsyncManifest = Extract<Manifest, { engine: 'latentsync' }>;
export type HighsyncManifest = Extract<Manifest, { engine: 'highsync' }>;
