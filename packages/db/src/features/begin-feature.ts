import { type ErrorCode } from '@lipsync/contract';
import { storedErrorCode } from '@lipsync/domain';
import { transaction, type Db } from '../postgres/db';
import { covers, type FeatureContent, type FeatureKey, lockFeature } from './feature-row';
import { type Lease } from '../jobs/lease';

export interface FeatureRequest {
  /** Frames from the start that somebody needs; Infinity for the whole video. */
  readonly wantedFrames: number;
  /** Of the record that uses it: it is kept at least as long. */
  readonly expiresAt: Date;
}

export type FeatureBegin =
  /** There it is. */
  | { readonly state: 'ready'; readonly content: FeatureContent }
  /** It was tried, and the video gives none: it would fail the same way again. */
  | { readonly state: 'impossible'; readonly errorCode: ErrorCode }
  /** Another running job makes it; ask again soon. */
  | { readonly state: 'wait' }
  /** It is this job's to make, until it is published or given up, or the job's own claim ends. */
  | { readonly state: 'make' };

/**
 * What a running job has to do to get a feature. Of any number of jobs that ask at once exactly one makes it. A maker
 * needs no lease beside its job's: one that is lost, cancelled or finished makes nothing any more.
 */
export function beginFeature(
  db: Db,
  key: FeatureKey,
  job: Lease,
  request: FeatureRequest,
): Promise<FeatureBegin> {
  return transaction(db, async (tx) => {
    const row = await lockFeature(tx, key, request.expiresAt, job);
    const { sha256, errorCode, frames, complete } = row;
    if (covers(row, request.wantedFrames)) {
      if (sha256 !== null) return { state: 'ready', content: { sha256, frames, complete } };
      if (errorCode !== null) return { state: 'impossible', errorCode: storedErrorCode(errorCode) };
    }
    if (row.madeByAnother) return { state: 'wait' };
    await tx.$executeRaw`
      UPDATE features SET maker_job_id = ${job.jobId}, maker_fence = ${job.fence}::int
      WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND name = ${key.name}`;
    return { state: 'make' };
  });
}

/** A feature that is there already; null when there is none that covers the request. Nobody is asked to make it. */
export async function findFeature(
  db: Db,
  key: FeatureKey,
  request: FeatureRequest,
): Promise<FeatureContent | null> {
  const wanted = Number.isFinite(request.wantedFrames) ? request.wantedFrames : null;
  const [content] = await db.prisma.$queryRaw<FeatureContent[]>`
    UPDATE features SET expires_at = GREATEST(expires_at, ${request.expiresAt})
    WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND name = ${key.name}
      AND sha256 IS NOT NULL AND expires_at > clock_timestamp()
      AND (complete OR frames >= ${wanted}::int)
    RETURNING sha256, frames, complete`;
  return content ?? null;
}
