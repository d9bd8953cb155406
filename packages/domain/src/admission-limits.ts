/**
 * High enough that no slot waits for the next admission, low enough that a newly arrived customer soon gets its turn.
 */
const READY_PER_SLOT = 1.5;
/**
 * The share of the media slots that one customer may use where there are several customers. An ingest takes as long as
 * its source does, minutes at worst, so a newcomer's file must still find a free slot.
 */
const INGEST_SHARE = 0.75;

/** How many jobs of a queue, announced or running, its live slots allow at once. */
export function admissionCapacity(liveSlots: number): number {
  return Math.ceil(liveSlots * READY_PER_SLOT);
}

/**
 * The ingests that one of several customers may have under way at once, announced or running: fewer than there are
 * slots, unless there is only one, so that none of its announcements ever waits for a slot ahead of another customer's.
 */
export function ingestCap(liveSlots: number): number {
  return Math.max(1, Math.floor(liveSlots * INGEST_SHARE));
}
