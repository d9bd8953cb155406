import { type EngineRunRow, isId, type PreparationRow, type RenderRow, ServiceError } from '@lipsync/domain';
import { type Db, type Tx } from './db';

/** All that a render's resource is made of. */
export interface RenderDetails {
  render: RenderRow;
  /** In the order of the request. */
  runs: EngineRunRow[];
  /** The preparation it names. */
  preparation: PreparationRow | null;
  webhookEventId: string | null;
}

/** Throws render_not_found (also for a foreign or malformed id) and render_expired. */
export async function getRender(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  const render = await requireRender(db.prisma, customerId, renderId);
  if (render.expiresAt <= new Date()) throw new ServiceError('render_expired');
  return renderDetails(db.prisma, render);
}

/** Throws render_not_found. */
export async function requireRender(tx: Tx, customerId: string, renderId: string): Promise<RenderRow> {
  const render = isId('ren', renderId)
    ? await tx.render.findFirst({ where: { id: renderId, customerId } })
    : null;
  if (render === null) throw new ServiceError('render_not_found');
  return render;
}

export async function renderDetails(tx: Tx, render: RenderRow): Promise<RenderDetails> {
  const { id, preparationId } = render;
  const [runs, preparation, event] = await Promise.all([
    tx.engineRun.findMany({ where: { renderId: id }, orderBy: { position: 'asc' } }),
    preparationId === null ? null : tx.preparation.findUnique({ where: { id: preparationId } }),
    tx.webhookEvent.findUnique({ where: { renderId: id }, select: { id: true } }),
  ]);
  return { render, runs, preparation, webhookEventId: event?.id ?? null };
}
