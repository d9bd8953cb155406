import { type AssetRow, type EngineRunRow, isId, type JobRow, type RenderRow } from '@lipsync/domain';
import { assetRow } from '../inputs/assets';
import { type Db } from '../postgres/db';

/** A render with everything that it waits for, for an operator. */
export interface RenderInspection {
  render: RenderRow;
  customerName: string | null;
  /** In the order of the request. */
  runs: EngineRunRow[];
  /** Its video, then its audio. Purged inputs are missing. */
  inputs: AssetRow[];
  /**
   * The jobs of its runs, and of its inputs while they are not ready. (A preparation has ended before a render can
   * refer to it.)
   */
  jobs: JobRow[];
  webhookEventId: string | null;
}

/** A render of any customer, expired or not. Null for an unknown or malformed id. */
export function inspectRender(db: Db, renderId: string): Promise<RenderInspection | null> {
  if (!isId('ren', renderId)) return Promise.resolve(null);
  // A snapshot of one moment, so that a run that has ended is not shown beside an older state of its job.
  return db.prisma.$transaction(
    async (tx) => {
      const render = await tx.render.findUnique({ where: { id: renderId } });
      if (render === null) return null;
      const { customerId, videoAssetId, audioAssetId } = render;
      const customer = await tx.customer.findUnique({ where: { id: customerId }, select: { name: true } });
      const runs = await tx.engineRun.findMany({ where: { renderId }, orderBy: { position: 'asc' } });
      const assets = await tx.asset.findMany({ where: { id: { in: [videoAssetId, audioAssetId] } } });
      const inputs = [videoAssetId, audioAssetId].flatMap((id) => assets.filter((asset) => asset.id === id));
      const awaited = inputs.filter(({ status }) => status !== 'ready');
      const jobs = await tx.job.findMany({
        where: {
          OR: [
            { engineRunId: { in: runs.map(({ id }) => id) } },
            { assetId: { in: awaited.map(({ id }) => id) } },
          ],
        },
        orderBy: { id: 'asc' },
      });
      const event = await tx.webhookEvent.findUnique({ where: { renderId }, select: { id: true } });
      return {
        render,
        customerName: customer?.name ?? null,
        runs,
        inputs: inputs.map(assetRow),
        jobs,
        webhookEventId: event?.id ?? null,
      };
    },
    { isolationLevel: 'RepeatableRead' },
  );
}
