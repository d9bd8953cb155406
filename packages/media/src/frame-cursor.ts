/** Frames of one run by source index. */
export interface FrameCursor {
  /** The frame of this index; the array stays valid until the next call. Indices follow the run's direction. */
  frameAt(index: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
