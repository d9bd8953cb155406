import { manifestSchema, modelFile, roleSchema } from '@lipsync/model-pack';
import { z } from 'zod';

const inputSide = z.int().positive();

/** Parameters of the face detector and the landmark network that the analyzer's code needs. */
const analyzerParamsSchema = z.strictObject({
  detector: z.strictObject({
    /**
     * Longer side of the network input for a whole frame, in the order in which the sizes are tried. Larger inputs find
     * smaller faces. All but the first are tried less often.
     */
    inputSizes: z.array(inputSide).min(1),
    /** Both sides of the input are multiples of this. */
    stride: z.int().positive(),
    /** Detections below this confidence are ignored. */
    scoreThreshold: z.number().min(0).max(1),
    /** Two detections with more overlap than this (intersection over union) are one face. */
    overlapThreshold: z.number().min(0).max(1),
    /** Size of a detection relative to the extent of the landmarks of the face in it. */
    boxScale: z.number().positive(),
    /**
     * Close-up of one face, turned upright: side of the square input, size of the patch relative to the extent of the
     * landmarks, and the confidence below which the patch shows no face.
     */
    closeUp: z.strictObject({
      inputSize: inputSide,
      scale: z.number().positive(),
      scoreThreshold: z.number().min(0).max(1),
      /**
       * The first detection of a face at or above this confidence is accepted if the face is small, because a close-up
       * would only blur it.
       */
      sureScore: z.number().min(0).max(1),
    }),
  }),
  landmarks: z.strictObject({
    /** Side of the square network input. */
    inputSize: inputSide,
    /** Size of the patch relative to the extent of the landmarks. */
    scale: z.number().positive(),
    /** If two landmark passes over a face differ by more than this fraction of the patch, there is no face. */
    maxDisagreement: z.number().positive(),
    /**
     * The same limit for a patch of hardly any pixels. Patches smaller than the network's input get a limit in between.
     */
    maxDisagreementBlurred: z.number().positive(),
  }),
});

export type AnalyzerParams = z.infer<typeof analyzerParamsSchema>;

export const analyzerManifestSchema = manifestSchema(
  'analyzer',
  {
    face_detector: roleSchema(['image'], ['boxes', 'scores']),
    landmarks68: roleSchema(['image'], ['points']),
    voice: roleSchema(['sound', 'state'], ['voice', 'next']),
    hearing: roleSchema(['mel'], ['cues']),
    palm_detector: roleSchema(['image'], ['palms', 'scores']),
    hand_landmarks: roleSchema(['image'], ['points', 'presence']),
  },
  analyzerParamsSchema,
);

export type AnalyzerManifest = z.infer<typeof analyzerManifestSchema>;

/** Sides of the square pictures in which palms are looked for, and a hand's landmarks. */
export const PALM_PICTURE_SIDE = 192;
export const HAND_PATCH_SIDE = 224;

/** The role of a landmark network in `model` that takes patches of this side. */
export function landmarksRole(model: Uint8Array, side: number) {
  return {
    ...modelFile('landmarks68.onnx', model),
    inputs: { image: { name: 'image', dtype: 'uint8', dims: ['n', side, side, 3], range: [0, 255] } },
    outputs: { points: { name: 'points', dtype: 'float32', dims: ['n', 68, 2], range: [0, 1] } },
  } satisfies AnalyzerManifest['roles']['landmarks68'];
}
