import {
  isId,
  type PreparationSummary,
  type RenderRow,
  type RunSummary,
  ServiceError,
} from '@lipsync/domain';
import { type Db, run } from '../postgres/db';

/** All data that the resource of a render is made of. */
export interface RenderDetails {
  render: RenderRow;
  /** In the order of the request. */
  runs: RunSummary[];
  /** The preparation it refers to. */
  preparation: PreparationSummary | null;
  webhookEventId: string | null;
}

/** A render, which may have expired by the database's clock. */
interface FoundRender {
  details: RenderDetails;
  isExpired: boolean;
}

/**
 * A render with all data of its resource. Rows as JSON: a prepared statement must not change the columns of its result,
 * as that of `SELECT *` would when a migration adds one.
 */
const FIND_RENDER = {
  name: 'find_render',
  text: `
    SELECT to_json(render) AS render, render.expires_at <= clock_timestamp() AS "isExpired",
      (SELECT json_agg(run ORDER BY position) FROM engine_runs AS run WHERE render_id = render.id) AS runs,
      (SELECT to_json(preparation) FROM preparations AS preparation WHERE id = render.preparation_id) AS preparation,
      (SELECT id FROM webhook_events WHERE render_id = render.id) AS "webhookEventId"
    FROM renders AS render WHERE render.id = $1 AND render.customer_id = $2`,
};

type Json = Readonly<Record<string, unknown>>;

/**
 * A render of this customer, even an expired one; null for an unknown or malformed id, and for another customer's.
 */
export async function findRender(db: Db, customerId: string, renderId: string): Promise<FoundRender | null> {
  // A malformed id may contain what Postgres does not accept.
  if (!isId('ren', renderId)) return null;
  type Row = Omit<FoundRender, 'details'> &
    Pick<RenderDetails, 'webhookEventId'> & { render: Json; runs: Json[] | null; preparation: Json | null };
  const [row] = await run<Row>(db, FIND_RENDER, [renderId, customerId]);
  if (row === undefined) return null;
  const { render, runs, preparation, webhookEventId, isExpired } = row;
  const details = {
    render: rowFrom<RenderRow>(render),
    runs: (runs ?? []).map((json) => rowFrom<RunSummary>(json)),
    preparation: preparation && rowFrom<PreparationSummary>(preparation),
    webhookEventId,
  };
  return { details, isExpired };
}

/** @throws ServiceError render_not_found or render_expired */
export async function getRender(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  const found = await findRender(db, customerId, renderId);
  if (found === null) throw new ServiceError('render_not_found');
  if (found.isExpired) throw new ServiceError('render_expired');
  return found.details;
}

/** A row that Postgres wrote as JSON, as Prisma reads it: names in camelCase, and times as such. */
function rowFrom<Row>(json: Json): Row {
  const row: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(json))
    row[fieldOf(column)] = column.endsWith('_at') && typeof value === 'string' ? new Date(value) : value;
  return row as Row;
}

const fields = new Map<string, string>();

function fieldOf(column: string): string {
  const field = fields.get(column) ?? column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  fields.set(column, field);
  return field;
}
