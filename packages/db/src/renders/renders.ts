import {
  isId,
  type PreparationSummary,
  type RenderRow,
  type RunSummary,
  ServiceError,
} from '@lipsync/domain';
import { type Db } from '../postgres/db';
import { run } from '../postgres/statement';

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

/** Renders with all data of their resources. Dependent rows are returned as JSON, in the form of the rows. */
const FIND_RENDERS = {
  name: 'find_renders',
  text: `
    SELECT wanted.place::integer, render.id, render.customer_id AS "customerId", render.status, render.stage,
      render.progress_percent AS "progressPercent", render.video_asset_id AS "videoAssetId",
      render.audio_asset_id AS "audioAssetId", render.sync_mode AS "syncMode",
      render.preparation_id AS "preparationId", render.webhook_url AS "webhookUrl", render.error_code AS "errorCode",
      render.created_at AS "createdAt", render.updated_at AS "updatedAt", render.completed_at AS "completedAt",
      render.expires_at AS "expiresAt", render.purged_at AS "purgedAt",
      render.expires_at <= clock_timestamp() AS "isExpired",
      (
        SELECT json_agg(json_build_object('id', id, 'engine', engine, 'position', position, 'status', status,
          'stage', stage, 'progressPercent', progress_percent, 'outputKey', output_key, 'errorCode', error_code,
          'errorDetail', error_detail, 'failedInput', failed_input, 'usage', usage) ORDER BY position)
        FROM engine_runs WHERE render_id = render.id
      ) AS runs,
      (
        SELECT json_build_object('status', status, 'version', version, 'analyzerVersion', analyzer_version,
          'frames', frames, 'fps', fps, 'width', width, 'height', height, 'durationSeconds', duration_seconds)
        FROM preparations WHERE id = render.preparation_id
      ) AS preparation,
      (SELECT id FROM webhook_events WHERE render_id = render.id) AS "webhookEventId"
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted(id, customer_id, place)
    JOIN renders AS render ON render.id = wanted.id AND render.customer_id = wanted.customer_id`,
};

/** Identifies a render of a customer. */
export interface RenderName {
  customerId: string;
  renderId: string;
}

/**
 * The renders with these names, in the same order; null for unknown or malformed ids and those of other customers.
 * Expired renders are included.
 */
export async function findRenders(db: Db, names: readonly RenderName[]): Promise<(FoundRender | null)[]> {
  type Row = RenderRow &
    Omit<RenderDetails, 'render' | 'runs'> & { place: number; isExpired: boolean; runs: RunSummary[] | null };
  // A malformed id may contain what Postgres does not accept.
  const ids = names.map(({ renderId }) => (isId('ren', renderId) ? renderId : ''));
  const found = names.map((): FoundRender | null => null);
  for (const row of await run<Row>(db, FIND_RENDERS, [ids, names.map(({ customerId }) => customerId)])) {
    const { place, isExpired, runs, preparation, webhookEventId, ...render } = row;
    found[place - 1] = { details: { render, runs: runs ?? [], preparation, webhookEventId }, isExpired };
  }
  return found;
}

/** The renders with these names, in the same order, or why they cannot be shown: render_not_found, render_expired. */
export async function getRenders(
  db: Db,
  names: readonly RenderName[],
): Promise<(RenderDetails | ServiceError)[]> {
  return (await findRenders(db, names)).map((found) => {
    if (found === null) return new ServiceError('render_not_found');
    return found.isExpired ? new ServiceError('render_expired') : found.details;
  });
}
