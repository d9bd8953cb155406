/** Observes what an engine takes, and pictures just before and just after their face is written into them. */
export interface FaceObserver {
  /** The frame passes unchanged. */
  readonly passed: () => void;
  /** The frame's face will be generated, and enlarged by this factor to fit. */
  readonly taken: (enlargement: number) => void;
  readonly before: (frame: Uint8Array, outputIndex: number) => void;
  readonly after: (frame: Uint8Array, outputIndex: number) => void;
}
