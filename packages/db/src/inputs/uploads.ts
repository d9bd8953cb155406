import { type MediaType } from '@lipsync/contract';
import {
  type AssetRow,
  isId,
  ServiceError,
  UPLOAD_COMPLETE_GRACE_SECONDS,
  type UploadRow,
} from '@lipsync/domain';
import { type Upload } from '@lipsync/prisma';
import { customerTransaction, requireActive, requireUploadSlot } from '../customers/customer-transaction';
import { databaseNow, type Db, secondsAfter, type Tx } from '../postgres/db';
import { insertJobs } from '../queue/queues';
import { assetRow, ingestOf } from './assets';

interface NewUpload {
  customerId: string;
  mediaType: MediaType;
  contentType: string;
  sizeBytes: number;
  /** Lifetime of the signed URL, UPLOAD_TTL_SECONDS. */
  ttlSeconds: number;
  /** Lifetime of the asset, RECORD_TTL_SECONDS. */
  assetTtlSeconds: number;
  stagingKey: (uploadId: string) => string;
}

/** The object that storage holds under an upload's staging key. */
interface StagedObject {
  sizeBytes: number;
  etag: string;
}

/**
 * Creates an upload and the asset that it will fill.
 * @throws ServiceError concurrency_limit_exceeded
 */
export function createUpload(db: Db, upload: NewUpload): Promise<{ upload: UploadRow; asset: AssetRow }> {
  const { customerId, mediaType, contentType, sizeBytes } = upload;
  return customerTransaction(db, customerId, async (tx, now) => {
    await requireUploadSlot(tx, customerId, now);
    const id = db.newId('upl');
    const asset = await tx.asset.create({
      data: {
        id: db.newId('ast'),
        customerId,
        mediaType,
        contentType,
        sizeBytes,
        status: 'awaiting_upload',
        stage: 'awaiting_upload',
        createdAt: now,
        updatedAt: now,
        expiresAt: secondsAfter(now, upload.assetTtlSeconds),
      },
    });
    const row = await tx.upload.create({
      data: {
        id,
        assetId: asset.id,
        customerId,
        contentType,
        sizeBytes,
        status: 'awaiting_upload',
        stagingKey: upload.stagingKey(id),
        createdAt: now,
        expiresAt: secondsAfter(now, upload.ttlSeconds),
      },
    });
    return { upload: uploadRow(row), asset: assetRow(asset) };
  });
}

/**
 * Completes an upload if `inspect` finds its bytes in storage, and queues the ingest of its asset. A second call
 * changes nothing and returns the current asset. A PUT that began before the expiry may land after it, so an object is
 * accepted for a while longer. An asset without a trace of its own joins `traceParent`, because its ingest begins here.
 * @throws ServiceError upload_not_found, upload_expired, upload_incomplete (no object yet) or upload_size_mismatch
 */
export async function completeUpload(
  db: Db,
  customerId: string,
  uploadId: string,
  inspect: (upload: UploadRow) => Promise<StagedObject | null>,
  traceParent?: string,
): Promise<AssetRow> {
  const { upload, asset, now } = await findUpload(db.prisma, customerId, uploadId);
  if (upload.status === 'completed') return asset;
  const staged = await inspect(upload);
  if (staged === null) {
    throw new ServiceError(upload.expiresAt <= now ? 'upload_expired' : 'upload_incomplete');
  }
  if (staged.sizeBytes !== upload.sizeBytes) {
    const detail = `${staged.sizeBytes} bytes arrived, but size_bytes was ${upload.sizeBytes}; create a new upload.`;
    throw new ServiceError('upload_size_mismatch', { detail });
  }
  return customerTransaction(db, customerId, async (tx) => {
    // Storage was asked outside the transaction, so another call, or the expiry, may have come first.
    await tx.$queryRaw`SELECT id FROM uploads WHERE id = ${uploadId} AND customer_id = ${customerId} FOR UPDATE`;
    const current = await findUpload(tx, customerId, uploadId);
    if (current.upload.status === 'completed') return current.asset;
    if (traceParent !== undefined) await joinTrace(tx, current.asset, traceParent);
    const frozen = await freeze(db, tx, current.upload, staged.etag, current.now);
    // In the order of locks, an asset comes before its customer.
    await requireActive(tx, customerId);
    return frozen;
  });
}

async function joinTrace(tx: Tx, { id, customerId }: AssetRow, traceParent: string): Promise<void> {
  await tx.asset.updateMany({ where: { id, customerId, traceParent: null }, data: { traceParent } });
}

async function freeze(db: Db, tx: Tx, upload: UploadRow, etag: string, now: Date): Promise<AssetRow> {
  const { id, assetId, customerId } = upload;
  await tx.upload.update({
    where: { id, customerId },
    data: { status: 'completed', completedAt: now, etag },
  });
  const asset = await tx.asset.update({
    where: { id: assetId, customerId },
    data: { status: 'pending', stage: 'queued', updatedAt: now },
  });
  const row = assetRow(asset);
  await insertJobs(db, tx, customerId, [ingestOf(row)], now);
  return row;
}

async function findUpload(
  tx: Tx,
  customerId: string,
  uploadId: string,
): Promise<{ upload: UploadRow; asset: AssetRow; now: Date }> {
  if (!isId('upl', uploadId)) throw new ServiceError('upload_not_found');
  const upload = await tx.upload.findFirst({ where: { id: uploadId, customerId } });
  if (upload === null) throw new ServiceError('upload_not_found');
  const asset = await tx.asset.findUniqueOrThrow({ where: { id: upload.assetId, customerId } });
  const now = await databaseNow(tx);
  const last = upload.status === 'completed' ? asset.expiresAt : graceEnd(upload.expiresAt);
  if (upload.status === 'expired' || last <= now) throw new ServiceError('upload_expired');
  return { upload: uploadRow(upload), asset: assetRow(asset), now };
}

function graceEnd(expiresAt: Date): Date {
  return secondsAfter(expiresAt, UPLOAD_COMPLETE_GRACE_SECONDS);
}

/** An upload as the pure core reads it. */
export function uploadRow(upload: Upload): UploadRow {
  return { ...upload, sizeBytes: Number(upload.sizeBytes) };
}
