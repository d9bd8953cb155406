/**
 * Number of buffers, in batch lengths: for the batches in flight, the one that fills, and frames being decoded and
 * encoded.
 */
const BATCHES = 4;

/** Limit for the pictures of one clip, in bytes: 1080p in batches of 16 fits, larger pictures get fewer buffers. */
const MOST_BYTES = 256 * 2 ** 20;

/** Minimum besides one batch: a picture that is being decoded and one that is being encoded. */
const SPARES = 2;

/** How many picture buffers a clip gets: enough for its stages to overlap, in memory bounded for any picture size. */
export function frameBudget(batchSize: number, frameBytes: number): number {
  const affordable = Math.floor(MOST_BYTES / frameBytes);
  return Math.max(batchSize + SPARES, Math.min(BATCHES * batchSize, affordable));
}
