/** Enough that no slot waits for the next admission, few enough that a late customer soon gets its turn. */
const READY_PER_SLOT = 1.5;
/**
 * Of what may be under way in the media queue, the part that one of several customers may have. That is three slots of
 * four, and never all where there are three or more: an ingest lasts as long as its source pleases, minutes at worst, and
 * a newcomer's file finds a free slot all the same.
 */
const INGEST_SHARE = 0.5;
/** The two files of one render go side by side, however few slots there are. */
const FEWEST_INGESTS = 2;

/** Jobs of a queue, announced or running, that its live slots allow at once. */
export function admissionCapacity(liveSlots: number): number {
  return Math.ceil(liveSlots * READY_PER_SLOT);
}

/** Of a media queue with this capacity, the ingests that one of several customers may have under way at once. */
export function ingestCap(capacity: number): number {
  return Math.max(FEWEST_INGESTS, Math.floor(capacity * INGEST_SHARE));
}
