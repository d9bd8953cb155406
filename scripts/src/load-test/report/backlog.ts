/** How many were under way at two moments, and how many came between them. */
export interface Backlog {
  /** Whose, in words. */
  readonly of: string;
  readonly atHalf: number;
  readonly atEnd: number;
  readonly arrivedBetween: number;
  /** So many come together: what counts as chance are batches. */
  readonly batch: number;
}

/** Added to the backlog, over those that came meanwhile, above which it does not settle. */
const MAX_GROWTH = 0.25;
/** Times the deviation of two counts that differ by chance alone. */
const CHANCE = 2;
/** Of fewer, one that came just before the end would look like growth. */
const MIN_BATCHES = 8;

/** Whether enough came to tell if the backlog would grow. */
export function tellsGrowth({ arrivedBetween, batch }: Backlog): boolean {
  return arrivedBetween >= MIN_BATCHES * batch;
}

/** Whether those who come are more than those who are served: the longer it lasts, the longer they wait. */
export function grows(backlog: Backlog): boolean {
  const { atHalf, atEnd, arrivedBetween, batch } = backlog;
  const byChance = CHANCE * Math.sqrt((atHalf + atEnd) * batch);
  return tellsGrowth(backlog) && atEnd - atHalf > Math.max(MAX_GROWTH * arrivedBetween, byChance);
}
