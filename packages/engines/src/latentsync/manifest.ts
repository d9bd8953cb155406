import {
  type ExpectedRoles,
  expectFloats,
  manifestSchema,
  refuseMismatches,
  roleSchema,
  type Size,
  type TensorSpec,
  tensorSpecSchema,
  TIMESTEP,
} from '@lipsync/model-pack';
import { z } from 'zod';
import { scheduleSchema } from '../diffusion/ddim';
import { EXEMPLAR_INPUTS, EXPECTED_EXEMPLARS, refuseHalfExemplars } from '../exemplar-inputs';
import { LANDMARK_COUNT } from '../face/landmarks';
import { audioSchema, generatorTensors, latentSchema, ratesSchema, speechWindows } from '../params';

/** Parameters that differ between latentsync packs (1.5 at 256 px, 1.6 at 512 px, distilled). */
const latentsyncParamsSchema = z.strictObject({
  /** Side of the square face crop, pixels. */
  resolution: z.int().positive(),
  latent: latentSchema,
  audio: audioSchema,
  /** Frames that the network sees at once. The number is fixed, so short stretches are filled up. */
  window: z.int().positive(),
  rates: ratesSchema.optional(),
  schedule: scheduleSchema,
  /**
   * Only every `interval`-th step computes the whole network. Those in between take its deep features and compute the
   * rest (DeepCache, https://arxiv.org/abs/2312.00858). Without it, every step is whole.
   */
  deepCache: z.strictObject({ interval: z.int().min(2) }).optional(),
  /** Classifier-free guidance. With 1 the network runs only once per step. */
  guidance: z.number().min(1),
  /** Seed of the one noise image that all frames of a video share. */
  seed: z.int().nonnegative(),
  /**
   * The generated part of the aligned face: rows of a square of `size` pixels as [row, first column, last column],
   * inclusive. A row may occur more than once.
   */
  mask: z
    .strictObject({
      size: z.int().positive(),
      spans: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative(), z.int().nonnegative()])).min(1),
    })
    .refine(
      ({ size, spans }) => spans.every(([row, first, last]) => row < size && first <= last && last < size),
      'rows of the mask lie inside its square',
    ),
});

export type LatentsyncParams = z.infer<typeof latentsyncParamsSchema>;

/**
 * The tensors that the latentsync engine feeds and reads with these parameters. `deep` are the features that the whole
 * network returns, if it does; the shallow one takes as many.
 */
function latentsyncTensors(params: LatentsyncParams, deep: TensorSpec | undefined): ExpectedRoles {
  const { latent, audio, window: frames } = params;
  const { channels, height, width } = latent;
  const features = expectFloats(1, channelsOf(deep), frames, height, width);
  const inputs = {
    latent: expectFloats(1, 3 * channels + 1, frames, height, width),
    timestep: TIMESTEP,
    audio: speechWindows(audio, frames),
  };
  const prediction = expectFloats(1, channels, frames, height, width);
  return {
    ...generatorTensors(params, 1),
    unet3d: {
      inputs: { ...inputs, landmarks: expectFloats(frames, LANDMARK_COUNT, 2), ...EXPECTED_EXEMPLARS },
      outputs: { prediction, deep: features },
    },
    unet3d_shallow: { inputs: { ...inputs, deep: features }, outputs: { prediction } },
  };
}

/** Whatever their number is, both networks must agree on it. */
function channelsOf(deep: TensorSpec | undefined): Size {
  const channels = deep?.dims[1];
  return typeof channels === 'number' ? channels : { atLeast: 1 };
}

const wholeRole = roleSchema(
  ['latent', 'timestep', 'audio'],
  ['prediction'],
  ['landmarks', ...EXEMPLAR_INPUTS],
);

export const latentsyncManifestSchema = manifestSchema(
  'latentsync',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // latent [1, 3·C + 1, frames, h, w]: noisy, mask, masked, reference. audio [frames, 10·states, width].
    unet3d: wholeRole.extend({
      outputs: wholeRole.shape.outputs.extend({ deep: tensorSpecSchema.optional() }),
    }),
    // The same network without what makes its deep features, which it takes: deep [1, features, frames, h, w].
    unet3d_shallow: roleSchema(['latent', 'timestep', 'audio', 'deep'], ['prediction']).optional(),
    vae_decoder: roleSchema(['latent'], ['image']),
  },
  latentsyncParamsSchema,
)
  .refine(
    ({ roles: { unet3d, unet3d_shallow } }) =>
      (unet3d.outputs.deep === undefined) === (unet3d_shallow === undefined),
    'the shallow network takes the deep features that the whole one returns',
  )
  .refine(
    ({ roles, params }) => params.deepCache === undefined || roles.unet3d_shallow !== undefined,
    'deepCache needs the shallow network',
  )
  .superRefine(({ roles, params }, context) => {
    refuseMismatches(context, roles, latentsyncTensors(params, roles.unet3d.outputs.deep));
    refuseHalfExemplars(context, 'unet3d', roles.unet3d);
  });

export type LatentsyncManifest = z.infer<typeof latentsyncManifestSchema>;
