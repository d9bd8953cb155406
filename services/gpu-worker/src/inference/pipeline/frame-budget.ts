/** Room for the batches in flight, the one that fills, and frames being decoded and encoded, in batch lengths. */
const BATCHES = 4;

/** For the pictures of one clip, bytes: 1080p in batches of 16 fits, larger pictures get fewer buffers. */
const MOST_BYTES = 256 * 2 ** 20;

/** What a clip needs at the least: a batch, and a picture each that is being decoded and encoded. */
const SPARES = 2;

/** How many picture buffers a clip gets: enough that its stages overlap, in memory that is bounded at any size. */
export function frameBudget(batchSize: number, frameBytes: number): number {
  const affordable = Math.floor(MOST_BYTES / frameBytes);
  return Math.max(batchSize + SPARES, Math.min(BATCHES * batchSize, affordable));
}
