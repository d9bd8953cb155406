import {
  expectBytes,
  type ExpectedRoles,
  expectFloats,
  manifestSchema,
  type PackRole,
  refuseMismatches,
  roleSchema,
  TIMESTEP,
} from '@lipsync/model-pack';
import { z } from 'zod';
import { EXEMPLAR_INPUTS, EXPECTED_EXEMPLARS, refuseHalfExemplars } from '../exemplar-inputs';
import { LANDMARK_COUNT } from '../face/landmarks';
import { audioSchema, generatorTensors, latentSchema, speechWindows } from '../params';
import { PARSING_SIDE } from './parsing';

/** Parameters that differ between musetalk packs (1.0, 1.5, distilled). The rest of the algorithm is code. */
const musetalkParamsSchema = z.strictObject({
  /**
   * Side of the square face crop, pixels. A multiple of eight, because the kernel that cuts it processes eight at a
   * time.
   */
  resolution: z.int().positive().multipleOf(8),
  latent: latentSchema,
  audio: audioSchema.extend({
    /** Whether the caller adds the sinusoidal position code. */
    positionalEncoding: z.enum(['outside', 'inside']),
  }),
  /** The diffusion timestep that is passed to the network. */
  timestep: z.int().nonnegative(),
  /** Frames per call of the graphs. An incomplete batch is padded, so that the graphs always see one shape. */
  batch: z.int().positive(),
  crop: z.strictObject({
    /** How many pixels below the nose bridge's low point the generated half begins (`bbox_shift`); 0 in 1.5. */
    shift: z.int(),
    /** Room below the chin in pixels (`extra_margin`): 10 in 1.5, 0 in 1.0. */
    margin: z.int().nonnegative(),
  }),
  /** How the mask of the pasted face is derived from face parsing. Without a parser a polygon of landmarks is used. */
  mask: z.strictObject({
    mode: z.enum(['jaw', 'raw', 'neck']),
    /** Half-widths, at 512 pixels, of the central part that is not eroded after growing ('jaw' only). */
    leftCheek: z.int().min(0).max(256),
    rightCheek: z.int().min(0).max(256),
    /** Width of the blur as a fraction of the parsed square. */
    blur: z.number().positive().lt(1),
  }),
});

export type MusetalkParams = z.infer<typeof musetalkParamsSchema>;

/** Faces per call of the parser: one if its graph is fixed to that, otherwise as many as of the other graphs. */
export function facesParsedAtOnce(parser: PackRole, { batch }: Pick<MusetalkParams, 'batch'>): number {
  return parser.inputs['image']?.dims[0] === 1 ? 1 : batch;
}

/** The tensors that the musetalk engine feeds and reads with these parameters. */
function musetalkTensors(params: MusetalkParams, parser: PackRole | undefined): ExpectedRoles {
  const { latent, audio, batch } = params;
  const parsed = parser ? facesParsedAtOnce(parser, params) : batch;
  const { channels, height, width } = latent;
  return {
    ...generatorTensors(params, batch),
    unet: {
      inputs: {
        latent: expectFloats(batch, 2 * channels, height, width),
        timestep: TIMESTEP,
        audio: speechWindows(audio, batch),
        landmarks: expectFloats(batch, LANDMARK_COUNT, 2),
        ...EXPECTED_EXEMPLARS,
      },
      outputs: { latent: expectFloats(batch, channels, height, width) },
    },
    face_parsing: {
      inputs: { image: expectFloats(parsed, 3, PARSING_SIDE, PARSING_SIDE) },
      outputs: { classes: expectBytes(parsed, PARSING_SIDE, PARSING_SIDE) },
    },
  };
}

export const musetalkManifestSchema = manifestSchema(
  'musetalk',
  {
    whisper_encoder: roleSchema(['mel'], ['states']),
    vae_encoder: roleSchema(['image'], ['latent']),
    // Landmarks: 68 (x, y) pairs in pixels of the crop, for generators that need to know where the face is.
    unet: roleSchema(['latent', 'timestep', 'audio'], ['latent'], ['landmarks', ...EXEMPLAR_INPUTS]),
    vae_decoder: roleSchema(['latent'], ['image']),
    // BiSeNet: [faces, 3, 512, 512] in ImageNet's normalization → the likeliest of its 19 classes for each pixel.
    face_parsing: roleSchema(['image'], ['classes']).optional(),
  },
  musetalkParamsSchema,
).superRefine(({ roles, params }, context) => {
  refuseMismatches(context, roles, musetalkTensors(params, roles.face_parsing));
  refuseHalfExemplars(context, 'unet', roles.unet);
});

export type MusetalkManifest = z.infer<typeof musetalkManifestSchema>;
