/** How many were in progress at two moments, and how many arrived in between. */
export interface Backlog {
  /** What is counted, in words. */
  readonly of: string;
  readonly atHalf: number;
  readonly atEnd: number;
  readonly arrivedBetween: number;
  /** How many arrive together: chance is judged in batches. */
  readonly batch: number;
}

/** Growth of the backlog as a share of the arrivals meanwhile; above this it does not settle. */
const MAX_GROWTH = 0.25;
/** Multiple of the standard deviation by which two counts may differ by chance. */
const CHANCE = 2;
/** With fewer, a single arrival just before the end would look like growth. */
const MIN_BATCHES = 8;

/** Whether enough arrived to tell if the backlog would grow. */
export function tellsGrowth({ arrivedBetween, batch }: Backlog): boolean {
  return arrivedBetween >= MIN_BATCHES * batch;
}

/** Whether arrivals exceed completions, so that waits grow for as long as this continues. */
export function grows(backlog: Backlog): boolean {
  const { atHalf, atEnd, arrivedBetween, batch } = backlog;
  const byChance = CHANCE * Math.sqrt((atHalf + atEnd) * batch);
  return tellsGrowth(backlog) && atEnd - atHalf > Math.max(MAX_GROWTH * arrivedBetween, byChance);
}
