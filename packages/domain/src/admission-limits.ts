/**
 * High enough that no slot waits for the next admission, low enough that a newly arrived customer soon gets its turn.
 */
const READY_PER_SLOT = 1.5;
/**
 * The share of the media queue's capacity that one customer may use where there are several customers. With 1.5 jobs
 * per slot this is three slots in four, and never all of them where there are three or more. An ingest takes as long as
 * its source does, minutes at worst, so a newcomer's file must still find a free slot.
 */
const INGEST_SHARE = 0.5;
/** The two files of a render are ingested side by side, however few slots there are. */
const FEWEST_INGESTS = 2;

/** How many jobs of a queue, announced or running, its live slots allow at once. */
export function admissionCapacity(liveSlots: number): number {
  return Math.ceil(liveSlots * READY_PER_SLOT);
}

/** The ingests that one of several customers may have under way at once in a media queue of this capacity. */
export function ingestCap(capacity: number): number {
  return Math.max(FEWEST_INGESTS, Math.floor(capacity * INGEST_SHARE));
}
