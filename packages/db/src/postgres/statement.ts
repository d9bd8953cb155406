import { type Db } from './db';

/**
 * A statement of the hot path, sent in one round trip without Prisma. It is a named prepared statement, so that each
 * connection parses and plans it once.
 */
export interface Statement {
  name: string;
  text: string;
}

/** Runs a statement on its own: it sees what is committed now, and its writes are committed when this resolves. */
export async function run<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const { rows } = await db.pool.query<Row>({ name, text, values: [...values] });
  return rows;
}
