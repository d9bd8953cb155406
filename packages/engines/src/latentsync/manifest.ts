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
  /** Pictures per call of the autoencoder, 1 without it. An incomplete batch is padded. */
  batch: z.int().positive().optional(),
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

interface Predicting {
  readonly outputs: { readonly prediction: TensorSpec; readonly deep?: TensorSpec | undefined };
}

/**
 * How many of guidance's conditions a call computes: two by a network that makes the one without sound itself. That one
 * comes first in its outputs.
 */
export function conditionsAtOnce({ outputs }: Predicting): 1 | 2 {
  return outputs.prediction.dims[0] === 2 ? 2 : 1;
}

/**
 * The tensors that the latentsync engine feeds and reads with these parameters. Both networks agree on the number of deep
 * features, if the whole one returns some, and on the conditions that they compute.
 */
function latentsyncTensors(params: LatentsyncParams, whole: Predicting): ExpectedRoles {
  const { latent, audio, window: frames } = params;
  const { channels, height, width } = latent;
  const conditions = conditionsAtOnce(whole);
  const features = expectFloats(conditions, channelsOf(whole.outputs.deep), frames, height, width);
  const inputs = {
    latent: expectFloats(1, 3 * channels + 1, frames, height, width),
    timestep: TIMESTEP,
    audio: speechWindows(audio, frames),
  };
  const prediction = expectFloats(conditions, channels, frames, height, width);
  return {
    ...generatorTensors(params, params.batch ?? 1),
    unet3d: {
      inputs: { ...inputs, landmarks: expectFloats(frames, LANDMARK_COUNT, 2), ...EXPECTED_EXEMPLARS },
      outputs: { prediction, deep: features },
    },
    unet3d_shallow: { inputs: { ...inputs, deep: features }, outputs: { prediction } },
  };
}

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
    // latent [1, 3·C + 1, frames, h, w]: noisy, mask, masked, reference. audio [frames, 10·states, width]. prediction
    // [1, C, frames, h, w], or [2, …] without the sound and with it.
    unet3d: wholeRole.extend({
      outputs: wholeRole.shape.outputs.extend({ deep: tensorSpecSchema.optional() }),
    }),
    // The same network without what makes its deep features, which it takes: deep, as many as predictions.
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
  .refine(
    ({ roles, params }) => params.guidance > 1 || conditionsAtOnce(roles.unet3d) === 1,
    'a network of both conditions is for guidance',
  )
  .superRefine(({ roles, params }, context) => {
    refuseMismatches(context, roles, latentsyncTensors(params, roles.unet3d));
    refuseHalfExemplars(context, 'unet3d', roles.unet3d);
  });

export type LatentsyncManifest = z.infer<typeof latentsyncManifestSchema>;
