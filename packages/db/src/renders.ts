import {
  isId,
  type PreparationSummary,
  type RenderRow,
  type RunSummary,
  ServiceError,
} from '@lipsync/domain';
import { type Db, type Tx } from './db';
import { run } from './statement';

/** All that a render's resource is made of. */
export interface RenderDetails {
  render: RenderRow;
  /** In the order of the request. */
  runs: RunSummary[];
  /** The preparation it names. */
  preparation: PreparationSummary | null;
  webhookEventId: string | null;
}

/** A render with all that its resource is made of. What hangs on it comes as JSON, in the form of the rows. */
const FIND_RENDER = {
  name: 'find_render',
  text: `
    SELECT render.id, render.customer_id AS "customerId", render.status, render.stage,
      render.progress_percent AS "progressPercent", render.video_asset_id AS "videoAssetId",
      render.audio_asset_id AS "audioAssetId", render.sync_mode AS "syncMode",
      render.preparation_id AS "preparationId", render.webhook_url AS "webhookUrl", render.error_code AS "errorCode",
      render.created_at AS "createdAt", render.updated_at AS "updatedAt", render.completed_at AS "completedAt",
      render.expires_at AS "expiresAt", render.purged_at AS "purgedAt",
      (
        SELECT json_agg(json_build_object('id', id, 'engine', engine, 'position', position, 'status', status,
          'stage', stage, 'progressPercent', progress_percent, 'outputKey', output_key, 'errorCode', error_code,
          'usage', usage) ORDER BY position)
        FROM engine_runs WHERE render_id = render.id
      ) AS runs,
      (
        SELECT json_build_object('status', status, 'version', version, 'analyzerVersion', analyzer_version,
          'frames', frames, 'fps', fps, 'width', width, 'height', height, 'durationSeconds', duration_seconds)
        FROM preparations WHERE id = render.preparation_id
      ) AS preparation,
      (SELECT id FROM webhook_events WHERE render_id = render.id) AS "webhookEventId"
    FROM renders AS render
    WHERE render.id = $1 AND render.customer_id = $2`,
};

/** Throws render_not_found (also for a foreign or malformed id) and render_expired. */
export async function getRender(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  const details = await requireRender(db, customerId, renderId);
  if (details.render.expiresAt <= new Date()) throw new ServiceError('render_expired');
  return details;
}

/** Throws render_not_found. */
export async function requireRender(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  type Row = RenderRow & Omit<RenderDetails, 'render' | 'runs'> & { runs: RunSummary[] | null };
  const [row] = isId('ren', renderId) ? await run<Row>(db, FIND_RENDER, [renderId, customerId]) : [];
  if (row === undefined) throw new ServiceError('render_not_found');
  const { runs, preparation, webhookEventId, ...render } = row;
  return { render, runs: runs ?? [], preparation, webhookEventId };
}

/** The same within a transaction that has the render. */
export async function renderDetails(tx: Tx, render: RenderRow): Promise<RenderDetails> {
  const { id, preparationId } = render;
  const [runs, preparation, event] = await Promise.all([
    tx.engineRun.findMany({ where: { renderId: id }, orderBy: { position: 'asc' } }),
    preparationId === null ? null : tx.preparation.findUnique({ where: { id: preparationId } }),
    tx.webhookEvent.findUnique({ where: { renderId: id }, select: { id: true } }),
  ]);
  return { render, runs, preparation, webhookEventId: event?.id ?? null };
}
