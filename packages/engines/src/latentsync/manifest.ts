import {
  type ExpectedRoles,
  expectFloats,
  manifestSchema,
  refuseMismatches,
  roleSchema,
  type TensorSpec,
  tensorSpecSchema,
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
  /** Classifier-free guidance. With 1 there is only the condition with sound. */
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

/** The role of the denoising network, as far as its tensors tell its form. */
interface Denoising {
  readonly inputs: { readonly timestep: TensorSpec; readonly coefficients?: TensorSpec | undefined };
  readonly outputs: { readonly prediction?: TensorSpec | undefined };
}

/**
 * How many steps a call takes, with guidance and the sampler's update in each; null of a network that predicts. With
 * DeepCache (https://arxiv.org/abs/2312.00858), the first of them is whole, and the others reuse its deep features.
 */
export function stepsAtOnce({ inputs }: Denoising): number | null {
  const [steps] = inputs.timestep.dims;
  return inputs.coefficients !== undefined && typeof steps === 'number' ? steps : null;
}

/**
 * How many of guidance's conditions a call predicts: two by a network that makes the one without sound itself. That one
 * comes first in its output.
 */
export function conditionsAtOnce({ outputs }: Denoising): 1 | 2 {
  return outputs.prediction?.dims[0] === 2 ? 2 : 1;
}

/** The tensors that the latentsync engine feeds and reads with these parameters. */
function latentsyncTensors(params: LatentsyncParams, unet3d: Denoising): ExpectedRoles {
  const { latent, audio, window: frames, guidance } = params;
  const { channels, height, width } = latent;
  const steps = stepsAtOnce(unet3d) ?? 1;
  const seen = expectFloats(1, 3 * channels + 1, frames, height, width);
  return {
    ...generatorTensors(params, params.batch ?? 1),
    unet3d: {
      inputs: {
        latent: seen,
        timestep: { dtype: 'int64', dims: [steps] },
        coefficients: expectFloats(steps, guidance > 1 ? 3 : 2),
        audio: speechWindows(audio, frames),
        landmarks: expectFloats(frames, LANDMARK_COUNT, 2),
        ...EXPECTED_EXEMPLARS,
      },
      outputs: {
        prediction: expectFloats(conditionsAtOnce(unet3d), channels, frames, height, width),
        latent: seen,
      },
    },
  };
}

const denoisingRole = roleSchema(
  ['latent', 'timestep', 'audio'],
  [],
  ['coefficients', 'landmarks', ...EXEMPLAR_INPUTS],
);

export const latentsyncManifestSchema = manifestSchema(
  'latentsync',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // latent [1, 3·C + 1, frames, h, w]: noisy, mask, masked, reference. audio [frames, 10·states, width]. Either
    // timestep [1] → prediction [1, C, frames, h, w], or [2, …] without the sound and with it; or timestep [n] →
    // latent after n steps, each of which sums the noisy part and the predictions, times its row of coefficients:
    // [n, 2], or with guidance [n, 3], whose second column is for the prediction without sound.
    unet3d: denoisingRole.extend({
      outputs: z.strictObject({
        prediction: tensorSpecSchema.optional(),
        latent: tensorSpecSchema.optional(),
      }),
    }),
    vae_decoder: roleSchema(['latent'], ['image']),
  },
  latentsyncParamsSchema,
)
  .refine(({ roles: { unet3d } }) => {
    const { inputs, outputs } = unet3d;
    return stepsAtOnce(unet3d) === null
      ? !inputs.coefficients && outputs.prediction && !outputs.latent
      : outputs.latent && !outputs.prediction;
  }, 'the network returns its prediction or, given coefficients for a fixed number of steps, the latent after them')
  .refine(
    ({ roles, params }) => params.guidance > 1 || conditionsAtOnce(roles.unet3d) === 1,
    'a network of both conditions is for guidance',
  )
  .superRefine(({ roles, params }, context) => {
    refuseMismatches(context, roles, latentsyncTensors(params, roles.unet3d));
    refuseHalfExemplars(context, 'unet3d', roles.unet3d);
  });

export type LatentsyncManifest = z.infer<typeof latentsyncManifestSchema>;
