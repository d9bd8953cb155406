import { type RecordStatus } from '@lipsync/contract';
import { type RenderRow } from '@lipsync/domain';
import { type Db } from '../postgres/db';

interface RenderSearch {
  /** All customers if omitted. */
  customerId?: string | undefined;
  /** Every state if omitted. */
  states?: readonly RecordStatus[] | undefined;
  /** SHA-256 in hex of the video or sound that it is made of; anything if omitted. All assets are read for this. */
  sourceSha256?: string | undefined;
  limit: number;
}

/** A render in a list, with the engines in the order of its request. */
export interface ListedRender extends RenderRow {
  engines: string[];
}

/** The newest `limit` renders, expired or not, the newest first, and how many older ones there are. */
export async function listRenders(
  db: Db,
  { customerId, states, sourceSha256, limit }: RenderSearch,
): Promise<{ renders: ListedRender[]; leftOut: number }> {
  const where = {
    ...(customerId === undefined ? {} : { customerId }),
    ...(states === undefined ? {} : { status: { in: [...states] } }),
    ...(sourceSha256 === undefined ? {} : await madeOf(db, sourceSha256)),
  };
  // Ids sort by the time of their creation.
  const renders = await db.prisma.render.findMany({ where, orderBy: { id: 'desc' }, take: limit });
  const runs = await db.prisma.engineRun.findMany({
    where: { renderId: { in: renders.map(({ id }) => id) } },
    orderBy: { position: 'asc' },
    select: { renderId: true, engine: true },
  });
  const total = renders.length < limit ? renders.length : await db.prisma.render.count({ where });
  return {
    renders: renders.map((render) => ({
      ...render,
      engines: runs.filter(({ renderId }) => renderId === render.id).map(({ engine }) => engine),
    })),
    leftOut: total - renders.length,
  };
}

async function madeOf(db: Db, sha256: string) {
  const assets = await db.prisma.asset.findMany({ where: { sha256 }, select: { id: true } });
  const sources = { in: assets.map(({ id }) => id) };
  return { OR: [{ videoAssetId: sources }, { audioAssetId: sources }] };
}
