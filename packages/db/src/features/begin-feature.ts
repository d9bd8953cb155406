import { type ErrorCode } from '@lipsync/contract';
import { storedErrorCode } from '@lipsync/domain';
import { type Lease } from '../jobs/lease';
import { type Db, transaction } from '../postgres/db';
import { covers, type FeatureContent, type FeatureKey, lockFeature } from './features';

export interface FeatureRequest {
  /** Frames needed from the start of the video; Infinity for the whole video. */
  readonly wantedFrames: number;
  /** Expiry of the record that uses the feature. The feature is kept at least until then. */
  readonly expiresAt: Date;
}

export type FeatureBegin =
  /** The feature exists. */
  | { readonly state: 'ready'; readonly content: FeatureContent }
  /** An earlier attempt showed that the video yields no such feature. Another would fail in the same way. */
  | { readonly state: 'impossible'; readonly errorCode: ErrorCode }
  /** Another running job is making it. Ask again soon. */
  | { readonly state: 'wait' }
  /** This job must make it. The task ends when the feature is published or given up, or when the job's claim ends. */
  | { readonly state: 'make' };

/**
 * Tells a running job what to do to get a feature. Of any number of concurrent callers exactly one is told to make it.
 * That needs no lease besides the job's own: a job that is lost, cancelled or finished no longer counts as the maker.
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

/** An existing feature that covers the request, otherwise null. Nobody is asked to make one. */
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
