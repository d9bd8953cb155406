import { type Tx } from './db';

/**
 * The time on the database's clock, which alone decides about leases, availability and expiry. Read it after taking a
 * row lock, and times written under that lock never run backwards.
 */
export async function databaseNow(tx: Tx): Promise<Date> {
  const [row] = await tx.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
  if (row === undefined) throw new Error('the database told no time');
  return row.now;
}

/** `seconds` after `time`; negative for before. */
export function secondsAfter(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}
