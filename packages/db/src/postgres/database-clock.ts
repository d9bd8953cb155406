import { type Tx } from './db';

/**
 * The time on the database's clock, which alone decides about leases, availability and expiry. If it is read after
 * taking a row lock, the times written under that lock never run backwards.
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
