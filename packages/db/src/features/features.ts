import { type ErrorCode } from '@lipsync/contract';
import { storedErrorCode } from '@lipsync/domain';
import { type Lease } from '../jobs/job';
import { type Db, transaction, type Tx } from '../postgres/db';
import { KEEPS_FEATURES, UNNAMED_SECONDS } from './feature-objects';

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
 * How many seconds from the start of the video a feature covers. `complete` means all of them, however many there are.
 */
export interface Coverage {
  readonly seconds: number;
  readonly complete: boolean;
}

export interface FeatureContent extends Coverage {
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

interface FeatureRequest {
  /** Seconds needed from the start of the video; Infinity for the whole video. */
  readonly wantedSeconds: number;
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
 * Tells a running job what to do to get a feature. Exactly one of any number of concurrent callers is told to make it.
 * That needs no lease besides the job's own: a job that is lost, cancelled or finished no longer counts as its owner.
 */
export function beginFeature(
  db: Db,
  key: FeatureKey,
  job: Lease,
  request: FeatureRequest,
): Promise<FeatureBegin> {
  return transaction(db, async (tx) => {
    const row = await lockFeature(tx, key, request.expiresAt, job);
    const { sha256, errorCode, seconds, complete } = row;
    if (covers(row, request.wantedSeconds)) {
      if (sha256 !== null) return { state: 'ready', content: { sha256, seconds, complete } };
      if (errorCode !== null) return { state: 'impossible', errorCode: storedErrorCode(errorCode) };
    }
    if (row.ownedByAnother) return { state: 'wait' };
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
  const wanted = Number.isFinite(request.wantedSeconds) ? request.wantedSeconds : null;
  const [content] = await db.prisma.$queryRaw<FeatureContent[]>`
    UPDATE features SET expires_at = GREATEST(expires_at, ${request.expiresAt})
    WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND name = ${key.name}
      AND sha256 IS NOT NULL AND expires_at > clock_timestamp()
      AND (complete OR seconds >= ${wanted}::float8)
    RETURNING sha256, seconds, complete`;
  return content ?? null;
}

/** What the video itself makes impossible, for the seconds examined. */
interface FeatureFault extends Coverage {
  readonly errorCode: ErrorCode;
}

/**
 * Publishes stored content, or the finding that there is none, if it covers more than the present feature. The object
 * must have been registered with `registerObject`. `owner` is the claim that `beginFeature` told to make it; null if
 * anybody may add it. Returns false if another job makes it by now, or if the present feature covers enough; the object
 * is then left to the purge.
 */
export function publishFeature(
  db: Db,
  key: FeatureKey,
  made: FeatureContent | FeatureFault,
  { expiresAt, owner }: { expiresAt: Date; owner: Lease | null },
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const row = await lockFeature(tx, key, expiresAt, owner);
    if (owner !== null && !(await giveUp(tx, key, owner))) return false;
    if (!coversMore(made, row)) return false;
    if ('sha256' in made && !(await nameObject(tx, key, made.sha256))) return false;
    if (row.sha256 !== null) await keepForReaders(tx, key, row.sha256);
    await write(tx, key, made);
    return true;
  });
}

/** Lets others make a feature that this claim was told to make. Does nothing if another claim owns it by now. */
export async function giveUpFeature(db: Db, key: FeatureKey, owner: Lease): Promise<void> {
  await giveUp(db.prisma, key, owner);
}

/** Clears content that turned out to be damaged or missing, so that the next job that asks makes it again. */
export function dropFeature(db: Db, key: FeatureKey, sha256: string): Promise<void> {
  return transaction(db, async (tx) => {
    const dropped = await tx.$executeRaw`
      UPDATE features SET sha256 = NULL, seconds = 0, complete = false
      WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND name = ${key.name}
        AND sha256 = ${sha256}`;
    if (dropped > 0) await keepForReaders(tx, key, sha256);
  });
}

async function giveUp(tx: Tx, key: FeatureKey, { jobId, fence }: Lease): Promise<boolean> {
  const released = await tx.$executeRaw`
    UPDATE features SET maker_job_id = NULL, maker_fence = NULL
    WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND name = ${key.name}
      AND maker_job_id = ${jobId} AND maker_fence = ${fence}::int`;
  return released === 1;
}

/**
 * Marks the object as referenced by a feature, which keeps it. The purge does not examine it before that feature
 * expires. Returns false if the object was not registered, or has been purged.
 */
async function nameObject(tx: Tx, key: FeatureKey, sha256: string): Promise<boolean> {
  const { customerId, videoSha256, name } = key;
  const named = await tx.$executeRaw`
    UPDATE feature_objects AS object SET kept_until = feature.expires_at FROM features AS feature
    WHERE object.customer_id = ${customerId} AND object.video_sha256 = ${videoSha256} AND object.sha256 = ${sha256}
      AND feature.customer_id = ${customerId} AND feature.video_sha256 = ${videoSha256} AND feature.name = ${name}`;
  return named === 1;
}

/** Keeps an object that its feature no longer references, because a reader may just have been told to fetch it. */
async function keepForReaders(tx: Tx, key: FeatureKey, sha256: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE feature_objects SET kept_until = clock_timestamp() + make_interval(secs => ${UNNAMED_SECONDS}::float8)
    WHERE customer_id = ${key.customerId} AND video_sha256 = ${key.videoSha256} AND sha256 = ${sha256}`;
}

async function write(tx: Tx, key: FeatureKey, made: FeatureContent | FeatureFault): Promise<void> {
  const { customerId, videoSha256, name } = key;
  await tx.feature.update({
    where: { customerId_videoSha256_name: { customerId, videoSha256, name } },
    data: { sha256: null, errorCode: null, ...made },
  });
}

function coversMore(made: Coverage, present: Coverage): boolean {
  return !present.complete && (made.complete || made.seconds > present.seconds);
}

/** A locked feature, without content that has expired. */
interface FeatureRow extends Coverage {
  sha256: string | null;
  errorCode: string | null;
  /** Whether a job other than the asking one, with a valid claim, is making it. */
  ownedByAnother: boolean;
}

/** Says whether `coverage` includes the first `wantedSeconds` seconds; Infinity for all. */
export function covers(coverage: Coverage, wantedSeconds: number): boolean {
  return coverage.complete || coverage.seconds >= wantedSeconds;
}

/**
 * Locks the feature, creating it if necessary, and extends its life at least until `expiresAt`. Clears content that has
 * expired, because it must not be used any more.
 */
async function lockFeature(
  tx: Tx,
  key: FeatureKey,
  expiresAt: Date,
  asking: Lease | null,
): Promise<FeatureRow> {
  const { customerId, videoSha256, name } = key;
  await tx.$executeRaw`
    INSERT INTO features AS feature (customer_id, video_sha256, name, expires_at)
    SELECT ${customerId}::text, ${videoSha256}::text, ${name}::text, ${expiresAt}::timestamptz
    WHERE ${KEEPS_FEATURES(customerId)}
    ON CONFLICT (customer_id, video_sha256, name) DO UPDATE SET
      sha256 = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.sha256 END,
      error_code = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.error_code END,
      seconds = CASE WHEN feature.expires_at > clock_timestamp() THEN feature.seconds ELSE 0 END,
      complete = feature.complete AND feature.expires_at > clock_timestamp(),
      expires_at = GREATEST(feature.expires_at, EXCLUDED.expires_at)`;
  const [row] = await tx.$queryRaw<FeatureRow[]>`
    SELECT sha256, error_code AS "errorCode", seconds, complete,
      EXISTS (
        SELECT FROM jobs
        WHERE jobs.id = maker_job_id AND jobs.fence = maker_fence
          AND jobs.status = 'running' AND jobs.lease_until > clock_timestamp()
          AND (jobs.id, jobs.fence) IS DISTINCT FROM (${asking?.jobId ?? null}::text, ${asking?.fence ?? null}::int)
      ) AS "ownedByAnother"
    FROM features
    WHERE customer_id = ${customerId} AND video_sha256 = ${videoSha256} AND name = ${name}`;
  if (row === undefined) throw new Error('the customer is being erased');
  return row;
}
