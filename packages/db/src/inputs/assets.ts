import { type ErrorCode, type Input, type MediaType } from '@lipsync/contract';
import { type AssetRow, errorMessage, isId, ServiceError, storedErrorBody } from '@lipsync/domain';
import { type Asset, Prisma } from '@lipsync/prisma';
import { customerTransaction, requireActive } from '../customers/customer-transaction';
import { databaseNow, type Db, secondsAfter, type Tx } from '../postgres/db';
import { insertJobs, type NewJob } from '../queue/queues';

interface NewUrlAsset {
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
  return customerTransaction(db, asset.customerId, async (tx, now) => {
    await requireActive(tx, asset.customerId);
    const row = await insertUrlAsset(db, tx, asset, now);
    await insertJobs(db, tx, asset.customerId, [ingestOf(row)], now);
    return row;
  });
}

/** Like `createAsset`, within the transaction that needs the asset, which must also insert its ingest job. */
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
  return assetRow(row);
}

/** The job that fetches or verifies an asset. */
export function ingestOf({ id }: AssetRow): NewJob {
  return { subject: { kind: 'ingest', assetId: id }, status: 'queued' };
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

/** An input of a record that is to be created. */
interface NewInput {
  customerId: string;
  mediaType: MediaType;
  input: Input;
  /** Where the request names it, for the message of a refusal; if omitted, the message does not say. */
  pointer?: string;
}

/**
 * Longer than a transaction may live. An asset that expires within this time is locked, so that its bytes are not purged
 * before the record that refers to it is committed.
 */
const PURGE_MARGIN_SECONDS = 60;

/**
 * The asset that an input refers to; null if the input is a URL. While it is pending it is share-locked: until the
 * caller commits it neither becomes ready nor fails, so a job that waits for it cannot miss the moment. So is one that is
 * about to expire. All others do not change, and every request of a busy customer may name them.
 * @throws ServiceError in this order: asset_not_found, asset_expired, asset_type_mismatch, asset_not_ready,
 * asset_failed
 */
export async function referInput(
  tx: Tx,
  { customerId, mediaType, input, pointer }: NewInput,
  now: Date,
): Promise<AssetRow | null> {
  if (!('asset_id' in input)) return null;
  const where = { id: input.asset_id, customerId };
  // A malformed id may contain what Postgres does not accept.
  let asset = isId('ast', where.id) ? await tx.asset.findFirst({ where }) : null;
  if (asset?.status === 'pending' || (asset && asset.expiresAt < secondsAfter(now, PURGE_MARGIN_SECONDS))) {
    await tx.$queryRaw`SELECT id FROM assets WHERE id = ${where.id} AND customer_id = ${customerId} FOR SHARE`;
    asset = await tx.asset.findFirst({ where });
  }
  const refuse = (code: ErrorCode): ServiceError =>
    new ServiceError(code, pointer === undefined ? {} : { detail: errorMessage(code, pointer) });
  if (asset === null) throw refuse('asset_not_found');
  if (asset.expiresAt <= now) throw refuse('asset_expired');
  if (asset.mediaType !== mediaType) throw refuse('asset_type_mismatch');
  if (asset.status === 'awaiting_upload') throw refuse('asset_not_ready');
  // Say here what is wrong with the file: there may never be a record that fails because of it.
  if (asset.status === 'failed')
    throw new ServiceError('asset_failed', { detail: storedErrorBody(asset, pointer).message });
  return assetRow(asset);
}

/** The URL of an input that refers to no asset. */
export function urlOf(input: Input): string {
  if (!('url' in input)) throw new Error('an input names neither an asset nor a URL');
  return input.url;
}

/** An asset as the pure core reads it. */
export function assetRow(asset: Asset): AssetRow {
  return { ...asset, sizeBytes: Number(asset.sizeBytes) };
}

/** Bytes of a customer, by their digest. */
interface OwnContent {
  readonly customerId: string;
  readonly sha256: string;
}

/** Which of these contents nothing is stored for any more: no asset whose bytes are there, and no feature. */
export function findUnknownContents(db: Db, contents: readonly OwnContent[]): Promise<OwnContent[]> {
  return db.prisma.$queryRaw<OwnContent[]>(unknownAmong(contents));
}

/** The statement of `findUnknownContents`. */
export function unknownAmong(contents: readonly OwnContent[]): Prisma.Sql {
  return Prisma.sql`
    SELECT content.customer_id AS "customerId", content.sha256
    FROM unnest(${contents.map(({ customerId }) => customerId)}::text[], ${contents.map(({ sha256 }) => sha256)}::text[])
      AS content (customer_id, sha256)
    WHERE NOT EXISTS (
        SELECT FROM assets
        WHERE assets.customer_id = content.customer_id AND assets.sha256 = content.sha256 AND purged_at IS NULL
      )
      AND NOT EXISTS (
        SELECT FROM feature_objects AS object
        WHERE object.customer_id = content.customer_id AND object.sha256 = content.sha256
      )`;
}
