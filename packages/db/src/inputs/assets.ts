import { type ErrorCode, type MediaType } from '@lipsync/contract';
import { type AssetRow, isId, ServiceError } from '@lipsync/domain';
import { databaseNow, secondsAfter } from '../postgres/database-clock';
import { type Db, transaction, type Tx } from '../postgres/db';
import { assetRow } from '../postgres/rows';
import { insertJob } from '../queue/queues';

export interface NewUrlAsset {
  customerId: string;
  mediaType: MediaType;
  url: string;
  /** Lifetime, RECORD_TTL_SECONDS. */
  ttlSeconds: number;
  /** W3C trace context of the request. The ingest joins this trace. */
  traceParent?: string | undefined;
}

/** Creates an asset to be fetched from a URL, with its ingest job in the `media` queue. */
export function createAsset(db: Db, asset: NewUrlAsset): Promise<AssetRow> {
  return transaction(db, async (tx) => insertUrlAsset(db, tx, asset, await databaseNow(tx)));
}

/** Like `createAsset`, within the transaction that needs the asset. */
export async function insertUrlAsset(db: Db, tx: Tx, asset: NewUrlAsset, now: Date): Promise<AssetRow> {
  const { customerId, mediaType, url, ttlSeconds, traceParent } = asset;
  const row = await tx.asset.create({
    data: {
      id: db.newId('ast'),
      customerId,
      mediaType,
      status: 'pending',
      stage: 'queued',
      sourceUrl: url,
      traceParent: traceParent ?? null,
      createdAt: now,
      updatedAt: now,
      expiresAt: secondsAfter(now, ttlSeconds),
    },
  });
  await insertJob(db, tx, {
    customerId,
    subject: { kind: 'ingest', assetId: row.id },
    status: 'queued',
    now,
  });
  return assetRow(row);
}

/** @throws ServiceError asset_not_found (also for a malformed id or another customer's) or asset_expired */
export async function getAsset(db: Db, customerId: string, assetId: string): Promise<AssetRow> {
  if (!isId('ast', assetId)) throw new ServiceError('asset_not_found');
  const [row, now] = await Promise.all([
    db.prisma.asset.findFirst({ where: { id: assetId, customerId } }),
    databaseNow(db.prisma),
  ]);
  if (row === null) throw new ServiceError('asset_not_found');
  if (row.expiresAt <= now) throw new ServiceError('asset_expired');
  return assetRow(row);
}

/**
 * The asset that a request refers to, locked if it may change before the caller commits (see the SQL function).
 * @throws ServiceError in this order: asset_not_found, asset_expired, asset_type_mismatch, asset_not_ready,
 * asset_failed
 */
export async function referAsset(
  tx: Tx,
  reference: { customerId: string; assetId: string; mediaType: MediaType },
): Promise<AssetRow> {
  const { customerId, assetId, mediaType } = reference;
  if (!isId('ast', assetId)) throw new ServiceError('asset_not_found');
  const [asset] = await tx.$queryRaw<{ refusal: ErrorCode | null }[]>`
    SELECT refusal FROM refer_asset(${customerId}, ${assetId}, ${mediaType})`;
  if (asset?.refusal) throw new ServiceError(asset.refusal);
  return assetRow(await tx.asset.findUniqueOrThrow({ where: { id: assetId, customerId } }));
}
