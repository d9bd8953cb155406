import { type Db } from './db';

/**
 * A statement of the hot path, sent past Prisma in one round trip. It is named, so that each connection parses and plans
 * it once.
 */
export interface Statement {
  name: string;
  text: string;
}

/** Runs a statement on its own: it sees what is committed now, and what it writes is committed when this resolves. */
export async function run<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>({ name, text, values: [...values] });
  return rows;
}
