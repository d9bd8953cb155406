/** The stages that a task's clock distinguishes. They overlap. */
export const TIMED_STAGES = [
  /** Loading graphs that are not loaded yet: the engine's for a render, the analyser's for an analysis. */
  'load',
  /** The analysis pass: decoding at reduced size, detector and landmarks. */
  'analyse',
  /** The pass over the video that computes engines' features. */
  'features',
  /** Reading the speech, and the engine's processing of it before the first frame. */
  'audio',
  /** Waiting for decoded frames in the render pass. */
  'decode',
  /** Copying faces out of frames. */
  'crop',
  /** Inside the graphs, on their thread. */
  'infer',
  /** Pasting generated faces into frames. */
  'paste',
  /** Waiting for the encoder to take frames and, at the end, to finish the file. */
  'encode',
  /** Measuring the result. */
  'quality',
] as const;

export type TimedStage = (typeof TIMED_STAGES)[number];
