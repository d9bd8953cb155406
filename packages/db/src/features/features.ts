import { type Lease } from '../jobs/lease';
import { type Tx } from '../postgres/db';

/**
 * Identifies a feature of one video of one customer. Features of other customers are never found, even for identical
 * bytes, so that the duration of a render cannot reveal that another customer has the same video.
 */
export interface FeatureKey {
  readonly customerId: string;
  readonly videoSha256: string;
  /** What the feature is and what made it, e.g. `track:2:…`. */
  readonly name: string;
}

/**
 * How many frames from the start of the video a feature covers. `complete` means all of them, however many there are.
 */
export interface Coverage {
  readonly frames: number;
  readonly complete: boolean;
}

export interface FeatureContent extends Coverage {
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

/** A locked feature, without content that has expired. */
export interface FeatureRow extends Coverage {
  sha256: string | null;
  errorCode: string | null;
  /** Whether a job other than the asking one, with a valid claim, is making it. */
  madeByAnother: boolean;
}

/** Says whether `coverage` includes the first `wantedFrames` frames; Infinity for all. */
export function covers(coverage: Coverage, wantedFrames: number): boolean {
  return coverage.complete || coverage.frames >= wantedFrames;
}

/**
 * Locks the feature, creating it if necessary, and extends its life at least until `expiresAt`. Clears content that has
 * expired, because it must not be used any more.
 */
export async function lockFeature(
  tx: Tx,
  key: FeatureKey,
  expiresAt: Date,
  asking: Lease | null,
): Promise<FeatureRow> {
  const { customerId, videoSha256, name } = key;
  await tx.$executeRaw`
    INSERT INTO features AS feature (customer_id, video_sha256, name, expires_at)
    VALUES (${customerId}, ${videoSha256}, ${name}, ${expiresAt})
    ON CONFLICT (customer_id, video_sha256, name) DO UPDATE SET
      sha256 = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.sha256 END,
      error_code = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.error_code END,
      frames = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.frames ELSE 0 END,
      complete = feature.complete AND feature.expires_at > clock_timestamp(),
      expires_at = GREATEST(feature.expires_at, EXCLUDED.expires_at)`;
  const [row] = await tx.$queryRaw<FeatureRow[]>`
    SELECT sha256, error_code AS "errorCode", frames, complete,
      EXISTS (
        SELECT FROM jobs
        WHERE jobs.id = maker_job_id AND jobs.fence = maker_fence
          AND jobs.status = 'running' AND jobs.lease_until > clock_timestamp()
          AND (jobs.id, jobs.fence) IS DISTINCT FROM (${asking?.jobId ?? null}::text, ${asking?.fence ?? null}::int)
      ) AS "madeByAnother"
    FROM features
    WHERE customer_id = ${customerId} AND video_sha256 = ${videoSha256} AND name = ${name}`;
  if (row === undefined) throw new Error('a feature that was just written is not there');
  return row;
}
