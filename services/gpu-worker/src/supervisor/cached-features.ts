import { constants } from 'node:fs';
import { copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import {
  type Coverage,
  dropFeature,
  type FeatureKey,
  findFeature,
  type Lease,
  publishFeature,
  registerObject,
} from '@lipsync/db';
import { type AssetRow, frameAt } from '@lipsync/domain';
import { type FaceTrack } from '@lipsync/engines';
import { sha256OfFile } from '@lipsync/model-pack';
import { withController } from '@lipsync/runtime';
import { featureKey, StorageError } from '@lipsync/storage';
import { type UsablePack } from '../host/find-packs';
import { bytesOfFirst, type FeatureOrigin, isOfOrigin } from '../protocol/feature-header';
import { CacheMismatch } from './disk-cache';
import { type GpuJob, type JobDeps, StorageFailed, transferring } from './gpu-job';

/** A file of an engine's features of a video, in a job's folder, for the child to read and extend. */
export interface EngineFeatures {
  readonly engine: Engine;
  readonly pack: UsablePack;
  readonly key: FeatureKey;
  /** Missing when no features are known yet. */
  readonly path: string;
  /** Seconds of video that were computed for it; a recomputed frame counts again, see `saveAddedFeatures`. */
  readonly seconds: number;
  /** Whether nothing is left to add. */
  readonly complete: boolean;
}

interface EngineFeaturesRequest {
  readonly engine: Engine;
  readonly pack: UsablePack;
  readonly video: AssetRow;
  readonly track: FaceTrack;
  /** Leading seconds of the video that will be read; a complete content need not be fetched beyond them. */
  readonly readSeconds: number;
  /** When the record expires. */
  readonly expiresAt: Date;
}

/**
 * Less than this share of a complete content is fetched separately, bypassing the disk cache, which holds whole files.
 */
const SMALL_PART = 0.5;

/** After this time the slot is free for the next job, whatever the store is doing. */
const SAVE_LIMIT_MS = 60_000;

/**
 * Places an engine's cached features where the child may extend them; null when its pack caches nothing. Features only
 * save work: while the store is away the engine recomputes them.
 */
export async function openEngineFeatures(
  deps: JobDeps,
  { folder, signal }: GpuJob,
  request: EngineFeaturesRequest,
): Promise<EngineFeatures | null> {
  const { engine, pack, video, track, expiresAt } = request;
  const { customerId, sha256: videoSha256 } = video;
  const { version, features } = pack;
  if (features === undefined || videoSha256 === null) return null;
  const key = {
    customerId,
    videoSha256,
    name: latentsName(engine, { version, features }, deps.videoOutput, track),
  };
  const path = join(folder, `features-${engine}.bin`);
  const origin = { ...features, trackVersion: track.version, analyzerVersion: track.analyzerVersion };
  const content = await findFeature(deps.db, key, { wantedSeconds: 0, expiresAt });
  const known =
    content && (await place(deps, { key, path, origin }, content, request, signal)) ? content : null;
  return { engine, pack, key, path, seconds: known?.seconds ?? 0, complete: known?.complete ?? false };
}

/** Stores the file that the child has extended, see `storeFeature`. */
export function saveFeatures(
  deps: JobDeps,
  { key, path }: EngineFeatures,
  content: Coverage & { readonly expiresAt: Date },
  signal: AbortSignal,
): Promise<boolean> {
  return storeFeature(deps, key, path, { ...content, owner: null }, signal);
}

/**
 * Saves what a render added, for the next one. Recomputed frames are added to the count like new ones, so that the
 * content with them counts for more than the stale one, and replaces it. The render has already completed and can no
 * longer fail: errors are only logged.
 */
export async function saveAddedFeatures(
  deps: JobDeps,
  { preempted }: GpuJob,
  features: EngineFeatures,
  added: { readonly seconds: number; readonly expiresAt: Date },
): Promise<void> {
  if (added.seconds === 0 || features.complete) return;
  const { expiresAt } = added;
  const seconds = features.seconds + added.seconds;
  try {
    await withController({ signal: preempted, ms: SAVE_LIMIT_MS }, (limit) =>
      saveFeatures(deps, features, { seconds, complete: false, expiresAt }, limit.signal),
    );
  } catch (error) {
    deps.logger.warn('features could not be kept', { name: features.key.name, error });
  }
}

/**
 * Places the part of a content that will be read: all of it if the child may extend it. A complete one is fetched only
 * in part if that part is small, because five minutes of video are gigabytes and a render may show one second.
 */
async function place(
  deps: JobDeps,
  { key, path, origin }: { key: FeatureKey; path: string; origin: FeatureOrigin },
  { sha256, complete }: { readonly sha256: string; readonly complete: boolean },
  { readSeconds, track }: EngineFeaturesRequest,
  signal: AbortSignal,
): Promise<boolean> {
  if (complete && readSeconds === 0) return true;
  const readFrames = frameAt(track.clock, readSeconds) + 1;
  try {
    if (complete && readFrames < SMALL_PART * track.frames) {
      return await fetchUndamaged(deps, key, sha256, async (objectKey) => {
        const firstBytes = bytesOfFirst(readFrames, origin);
        await deps.storage.getToFile(objectKey, path, { firstBytes, signal });
        // A part has no digest to compare.
        if (!isOfOrigin(path, origin)) throw new CacheMismatch('the stored file is not what was recorded');
      });
    }
    const cached = `${path}.cached`;
    if (!(await fetchFeature(deps, key, sha256, cached, signal))) return false;
    // A copy, because the child writes to it and other jobs share the cached file.
    await copyFile(cached, path, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error;
    deps.logger.warn('kept features could not be fetched', { name: key.name, sha256, error });
    return false;
  }
}

/**
 * Places a stored content at `path`, from the disk cache if possible. Returns false when the object is missing or does
 * not match its record: the record is then dropped, so that another job recomputes it. Rejects with StorageFailed when
 * the store is unavailable.
 */
export function fetchFeature(
  deps: JobDeps,
  key: FeatureKey,
  sha256: string,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { cache, storage } = deps;
  const content = { customerId: key.customerId, sha256 };
  return fetchUndamaged(deps, key, sha256, (objectKey) =>
    cache.place(content, path, (target) => storage.getToFile(objectKey, target), signal),
  );
}

/** Whether `fetch` got the object. Drops the record of one that is damaged or gone. */
async function fetchUndamaged(
  { db, logger }: JobDeps,
  key: FeatureKey,
  sha256: string,
  fetch: (objectKey: string) => Promise<unknown>,
): Promise<boolean> {
  const objectKey = featureKey({ ...key, sha256 });
  try {
    await transferring(() => fetch(objectKey));
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    logger.warn('a kept feature is damaged or gone', { name: key.name, object_key: objectKey, error });
    await dropFeature(db, key, sha256);
    return false;
  }
}

/** Whether the stored object differs from the record for good, so that a retry cannot help. */
function isDamage(error: unknown): boolean {
  const cause = error instanceof StorageFailed ? error.cause : error;
  return cause instanceof CacheMismatch || (cause instanceof StorageError && cause.kind === 'not_found');
}

/**
 * Stores a file as the content of a feature, for records that live until `expiresAt`; see `publishFeature` for `owner`.
 * Rejects with StorageFailed, or when the database is away.
 */
export async function storeFeature(
  { db, storage }: JobDeps,
  key: FeatureKey,
  file: string,
  content: Coverage & { readonly expiresAt: Date; readonly owner: Lease | null },
  signal: AbortSignal,
): Promise<boolean> {
  const { seconds, complete, expiresAt, owner } = content;
  const sha256 = await sha256OfFile(file);
  const object = { ...key, sha256 };
  await registerObject(db, object, (await stat(file)).size);
  await transferring(() =>
    storage.put(featureKey(object), { file }, { contentType: 'application/octet-stream', signal }),
  );
  return publishFeature(db, key, { sha256, seconds, complete }, { expiresAt, owner });
}

/** The analyzer that made a face track, and the track's version. */
export interface TrackOrigin {
  /** See FACE_TRACK_VERSION. */
  readonly version: string;
  /** Name, version and content digest of the analyzer's pack in one string. */
  readonly analyzerVersion: string;
}

/** The name under which a video's face track is stored: another analyzer's track is a different feature. */
export function trackName({ version, analyzerVersion }: TrackOrigin): string {
  return `track:${version}:${analyzerVersion}`;
}

/**
 * The name under which an engine's features of a video are stored. They depend on the pack's networks, on the engine's
 * code, on the colors of the frames, which are those of the output, and on the track, which determines the position of
 * the crops.
 */
function latentsName(
  engine: Engine,
  pack: { readonly version: string; readonly features: { readonly version: string } },
  videoOutput: string,
  track: TrackOrigin,
): string {
  return `latents:${engine}:${pack.features.version}:${pack.version}:${videoOutput}:${trackName(track)}`;
}
