import { z } from 'zod';

const inputSide = z.int().positive();

/** Numbers of the face detector and the landmark network that the analyser's code needs. */
export const analyzerParamsSchema = z.strictObject({
  detector: z.strictObject({
    /**
     * Longer side of the network input for a whole frame, in the order of trying: larger finds smaller faces. Those
     * behind the first are tried less often.
     */
    inputSizes: z.array(inputSide).min(1),
    /** Both sides of the input are multiples of this. */
    stride: z.int().positive(),
    /** Detections below this confidence are not looked at. */
    scoreThreshold: z.number().min(0).max(1),
    /** Two detections that overlap more than this (intersection over union) are one face. */
    overlapThreshold: z.number().min(0).max(1),
    /**
     * Close look at one face, turned upright: side of the square input, how many times larger than the landmarks'
     * extent the patch is, and the confidence below which it shows no face.
     */
    closeUp: z.strictObject({
      inputSize: inputSide,
      scale: z.number().positive(),
      scoreThreshold: z.number().min(0).max(1),
      /** A small face, which a closer look would only blur, is believed from this confidence of the first look on. */
      sureScore: z.number().min(0).max(1),
    }),
  }),
  landmarks: z.strictObject({
    /** Side of the square network input. */
    inputSize: inputSide,
    /** How many times larger than the landmarks' extent the patch is. */
    scale: z.number().positive(),
    /** Two looks at a face that differ by more than this part of the patch did not see a face. */
    maxDisagreement: z.number().positive(),
    /** The same at a patch of hardly any pixels; in between for patches smaller than the network's input. */
    maxDisagreementBlurred: z.number().positive(),
  }),
});

export type AnalyzerParams = z.infer<typeof analyzerParamsSchema>;
