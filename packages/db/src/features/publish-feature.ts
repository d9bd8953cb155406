import { type ErrorCode } from '@lipsync/contract';
import { type Lease } from '../jobs/lease';
import { type Db, transaction, type Tx } from '../postgres/db';
import { keepForReaders, nameObject } from './feature-objects';
import { type Coverage, type FeatureContent, type FeatureKey, lockFeature } from './features';

/** What the video itself makes impossible, for the frames examined. */
export interface FeatureFault extends Coverage {
  readonly errorCode: ErrorCode;
}

/**
 * Publishes stored content, or the finding that there is none, if it covers more than the present feature. The object
 * must have been registered with `registerObject`. `maker` is the claim that `beginFeature` told to make it; null if
 * anybody may add it. Returns false if another job makes it by now, or if the present feature covers enough; the object
 * is then left to the purge.
 */
export function publishFeature(
  db: Db,
  key: FeatureKey,
  made: FeatureContent | FeatureFault,
  publication: { expiresAt: Date; maker: Lease | null },
): Promise<boolean> {
  const { expiresAt, maker } = publication;
  return transaction(db, async (tx) => {
    const row = await lockFeature(tx, key, expiresAt, maker);
    if (maker !== null && !(await giveUp(tx, key, maker))) return false;
    if (!coversMore(made, row)) return false;
    if ('sha256' in made && !(await nameObject(tx, key, made.sha256))) return false;
    if (row.sha256 !== null) await keepForReaders(tx, key, row.sha256);
    await write(tx, key, made);
    return true;
  });
}

/** Lets others make a feature that this claim was told to make. Does nothing if another claim is the maker by now. */
export async function giveUpFeature(db: Db, key: FeatureKey, maker: Lease): Promise<void> {
  await giveUp(db.prisma, key, maker);
}

/** Clears content that turned out to be damaged or missing, so that the next job that asks makes it anew. */
export function dropFeature(db: Db, key: FeatureKey, sha256: string): Promise<void> {
  return transaction(db, async (tx) => {
    const dropped = await tx.$executeRaw`
      UPDATE features SET sha256 = NULL, frames = 0, complete = false
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

async function write(tx: Tx, key: FeatureKey, made: FeatureContent | FeatureFault): Promise<void> {
  const { customerId, videoSha256, name } = key;
  await tx.feature.update({
    where: { customerId_videoSha256_name: { customerId, videoSha256, name } },
    data: { sha256: null, errorCode: null, ...made },
  });
}

function coversMore(made: Coverage, present: Coverage): boolean {
  return !present.complete && (made.complete || made.frames > present.frames);
}
