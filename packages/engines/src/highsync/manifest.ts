import {
  type ExpectedRole,
  type ExpectedRoles,
  type ExpectedTensor,
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
import { guidanceIntervalSchema } from '../diffusion/guidance-interval';
import { EXEMPLAR_INPUTS, EXPECTED_EXEMPLARS, refuseHalfExemplars } from '../exemplar-inputs';
import { LANDMARK_COUNT } from '../face/landmarks';
import { audioSchema, generatorTensors, latentSchema, ratesSchema, speechWindows } from '../params';

/** Parameters that differ between highsync packs. */
const highsyncParamsSchema = z
  .strictObject({
    /**
     * Side of the square face crop, pixels. A multiple of eight, because the kernel that cuts it processes eight at a
     * time.
     */
    resolution: z.int().positive().multipleOf(8),
    /**
     * How the crop is resampled. Bilinear unless it says otherwise, because the official weights were trained on such
     * crops; Lanczos is sharper.
     */
    interpolation: z.enum(['bilinear', 'lanczos']).optional(),
    latent: latentSchema,
    audio: audioSchema,
    /** Frames that the network sees at once. The number is fixed, so short stretches are padded. */
    window: z.int().positive(),
    /** Frames that neighboring windows share. */
    overlap: z.int().nonnegative(),
    rates: ratesSchema.optional(),
    schedule: scheduleSchema,
    /** Classifier-free guidance. With 1 the network runs only once per step. */
    guidance: z.number().min(1),
    /** Outside of it the network runs only once per step. Without it, all steps are guided. */
    guidanceInterval: guidanceIntervalSchema.optional(),
    /** Seed of the noise, which differs for every frame. */
    seed: z.int().nonnegative(),
    /** Generated cells of the latent, bounds included. */
    mask: z.strictObject({
      top: z.int().nonnegative(),
      bottom: z.int().nonnegative(),
      left: z.int().nonnegative(),
      right: z.int().nonnegative(),
    }),
    /**
     * Number of frames by which denoising advances at a time. It bounds memory, with the steps that are under way over
     * the frames before, and does not change the pictures.
     */
    stretch: z.int().positive(),
  })
  .refine(({ window, overlap }) => overlap < window, 'windows overlap by less than a window')
  .refine(
    ({ mask, latent }) =>
      mask.top <= mask.bottom &&
      mask.left <= mask.right &&
      mask.bottom < latent.height &&
      mask.right < latent.width,
    'the rectangle lies inside the latent',
  )
  .refine(({ stretch, window }) => stretch >= window, 'a stretch holds at least a window');

export type HighsyncParams = z.infer<typeof highsyncParamsSchema>;

/**
 * The tensors that the highsync engine feeds and reads with these parameters. `banks` are the outputs of the pack's
 * reference network, if that is a graph of its own.
 */
function highsyncTensors(params: HighsyncParams, banks: Readonly<Record<string, TensorSpec>>): ExpectedRoles {
  const { latent, audio, window } = params;
  const { channels, height, width } = latent;
  const frames = expectFloats(1, channels, window, height, width);
  const denoising = {
    inputs: {
      latent: frames,
      timestep: TIMESTEP,
      audio: speechWindows(audio, 1, window),
      landmarks: expectFloats(1, window, LANDMARK_COUNT, 2),
    },
    outputs: { prediction: frames },
  } satisfies ExpectedRole;
  return {
    ...generatorTensors(params, 1),
    // Called for one frame at a time, for frames whose banks are not cached, and so always with the same shape.
    reference_unet: {
      inputs: { latent: expectFloats(1, channels, height, width) },
      outputs: banksFor(1, banks),
    },
    denoising_unet: {
      ...denoising,
      inputs: {
        ...denoising.inputs,
        ...EXPECTED_EXEMPLARS,
        ...banksFor(window, banks),
        reference: expectFloats(window, channels, height, width),
      },
    },
    denoising_unet_unconditional: denoising,
  };
}

/** The banks of some frames. The networks may use any dimensions after the first, as long as they agree. */
function banksFor(
  frames: number,
  banks: Readonly<Record<string, TensorSpec>>,
): Record<string, ExpectedTensor> {
  const known = (size: number | string): Size => (typeof size === 'number' ? size : { atLeast: 1 });
  return Object.fromEntries(
    Object.entries(banks).map(([name, { dims }]) => [
      name,
      expectFloats(frames, ...dims.slice(1).map(known)),
    ]),
  );
}

/** What the reference network remembers of a frame: one tensor per transformer block, in the order of the blocks. */
const BANK = /^bank_\d+$/;
const banksSchema = z.record(z.string().regex(BANK), tensorSpecSchema);
const denoisingRole = roleSchema(
  ['latent', 'timestep', 'audio'],
  ['prediction'],
  ['landmarks', 'reference', ...EXEMPLAR_INPUTS],
);

export const highsyncManifestSchema = manifestSchema(
  'highsync',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // latent [frames, C, h, w] → banks [frames, tokens, width]. Missing where the denoising network's graph includes it.
    reference_unet: roleSchema(['latent'], []).extend({ outputs: banksSchema }).optional(),
    // latent [1, C, window, h, w], audio [1, window, 10·states, width]. Of the source frames either their banks, as the
    // reference network's outputs, or `reference`, their latents [window, C, h, w].
    denoising_unet: denoisingRole.extend({ inputs: denoisingRole.shape.inputs.catchall(tensorSpecSchema) }),
    // The same network without a reference, which guidance leads away from. Optional if guidance is 1.
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
    return (
      taken.sort().join() ===
      Object.keys(reference_unet?.outputs ?? {})
        .sort()
        .join()
    );
  }, 'the denoising network takes the banks that the reference network gives')
  .refine(
    ({ roles: { reference_unet, denoising_unet } }) =>
      (reference_unet === undefined) === (denoising_unet.inputs.reference !== undefined),
    'the denoising network takes either banks or the latents of the reference',
  )
  .refine(
    ({ roles, params }) => params.guidance === 1 || roles.denoising_unet_unconditional !== undefined,
    'guidance needs the network without condition',
  )
  .superRefine(({ roles, params }, context) => {
    refuseMismatches(context, roles, highsyncTensors(params, roles.reference_unet?.outputs ?? {}));
    refuseHalfExemplars(context, 'denoising_unet', roles.denoising_unet);
  });

export type HighsyncManifest = z.infer<typeof highsyncManifestSchema>;
