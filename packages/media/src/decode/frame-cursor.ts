/** Frames of one run by source index. */
export interface FrameCursor {
  /**
   * Copies the frame of this index into `target`. Indices follow the run's direction; `again` says that the next index
   * is the same.
   */
  copyFrame(index: number, target: Uint8Array, again: boolean): Promise<void>;
  close(): Promise<void>;
}
