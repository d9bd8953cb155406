import { z } from 'zod';
import { analyzerParamsSchema } from './analyzer-params';
import { musetalkParamsSchema } from './musetalk-params';
import { roleSchema } from './role';

const commonFields = {
  /** Version of this file's own format. */
  format: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/),
  version: z.string().regex(/^[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.-]+)?$/),
  /** SPDX expression, and where the weights come from. */
  licence: z.strictObject({ spdx: z.string().min(1), source: z.string().min(1) }),
  /** Execution providers the files are made for, preferred first: graphs optimised for one may not load in another. */
  providers: z.array(z.enum(['cuda', 'cpu'])).min(1),
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

const musetalkManifestSchema = z.strictObject({
  ...commonFields,
  engine: z.literal('musetalk'),
  roles: z.strictObject({
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // Landmarks: 68 (x, y) pairs in pixels of the crop, for generators that are told where the face is.
    unet: roleSchema(['latent', 'timestep', 'audio'], ['latent'], ['landmarks']),
    vae_decoder: roleSchema(['latent'], ['image']),
  }),
  params: musetalkParamsSchema,
});

/** pack.json: what a pack is for, its files by role, and the numbers that the engine's code must know about them. */
export const manifestSchema = z.discriminatedUnion('engine', [
  analyzerManifestSchema,
  musetalkManifestSchema,
]);

export type Manifest = z.infer<typeof manifestSchema>;
export type PackEngine = Manifest['engine'];
export type AnalyzerManifest = Extract<Manifest, { engine: 'analyzer' }>;
export type MusetalkManifest = Extract<Manifest, { engine: 'musetalk' }>;
