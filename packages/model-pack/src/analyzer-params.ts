import { z } from 'zod';

/** Numbers of the face detector and the landmark network that the analyser's code needs. */
export const analyzerParamsSchema = z.strictObject({
  detector: z.strictObject({
    /** Side of the square network input; frames are letterboxed into it, image at the top left. */
    inputSize: z.int().multipleOf(32),
    /** Pixels of input per grid cell. */
    stride: z.int().positive(),
    /** Prior box sizes in grid cells, width and height. */
    anchors: z.array(z.tuple([z.number().positive(), z.number().positive()])).min(1),
    /** Detections below this confidence are not faces. */
    scoreThreshold: z.number().min(0).max(1),
    /** Two detections that overlap more than this (intersection over union) are one face. */
    overlapThreshold: z.number().min(0).max(1),
  }),
  landmarks: z.strictObject({
    /** Side of the square network input. */
    inputSize: z.int().positive(),
  }),
});

export type AnalyzerParams = z.infer<typeof analyzerParamsSchema>;
