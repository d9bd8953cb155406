import { type UsablePack } from '../host/find-packs';
import { bytesOfFirst, type FeatureOrigin, isOfOrigin } from '../protocol/feature-header';
import { latentsName } from './feature-names';
import { type JobContext, type JobTools } from './job-context';
import { StorageFailed } from './job-errors';
import { fetchFirst, fetchKept, storeKept } from './kept-features';
import { type Engine } from '@lipsync/contract';
import { type FeatureKey, findFeature } from '@lipsync/db';
import { type AssetRow } from '@lipsync/domain';
import { type FaceTrack } from '@lipsync/engines';
import { withController } from '@lipsync/runtime';
import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';

/** After this time the slot is free for the next job, whatever the store is doing. */
const KEEP_LIMIT_MS = 60_000;

/** A file of an engine's features of a video, in a job's folder, for the child to read and extend. */
export interface EngineFeatures {
  readonly engine: Engine;
  readonly pack: UsablePack;
  readonly key: FeatureKey;
  /** Missing when no features are known yet. */
  readonly path: string;
  /** Number of frames that were computed for it; a recomputed frame counts again, see `keepAdded`. */
  readonly frames: number;
  /** Whether nothing is left to add. */
  readonly complete: boolean;
}

export interface EngineFeaturesRequest {
  readonly engine: Engine;
  readonly pack: UsablePack;
  readonly video: AssetRow;
  readonly track: FaceTrack;
  /** Number of leading source frames that will be read; a complete content need not be fetched beyond them. */
  readonly readFrames: number;
  /** When the record expires. */
  readonly expiresAt: Date;
}

/**
 * Less than this share of a complete content is fetched separately, bypassing the disk cache, which holds whole files.
 */
const SMALL_PART = 0.5;

/** Where to place a content, and what it must be. */
interface Target {
  readonly key: FeatureKey;
  readonly path: string;
  readonly origin: FeatureOrigin;
}

/**
 * Places an engine's stored features where the child may extend them; null when its pack keeps nothing. Features only
 * save work: while the store is away the engine recomputes them.
 */
export async function openEngineFeatures(
  tools: JobTools,
  { folder, signal }: JobContext,
  request: EngineFeaturesRequest,
): Promise<EngineFeatures | null> {
  const { engine, pack, video, track, expiresAt } = request;
  const { customerId, sha256: videoSha256 } = video;
  const { version, features } = pack;
  if (features === undefined || videoSha256 === null) return null;
  const key = { customerId, videoSha256, name: latentsName(engine, { version, features }, track) };
  const path = join(folder, `features-${engine}.bin`);
  const origin = { ...features, trackVersion: track.version, analyzerVersion: track.analyzerVersion };
  const content = await findFeature(tools.db, key, { wantedFrames: 0, expiresAt });
  const known =
    content && (await place(tools, signal, { key, path, origin }, content, request)) ? content : null;
  return { engine, pack, key, path, frames: known?.frames ?? 0, complete: known?.complete ?? false };
}

/** Stores the file that the child has extended, see `storeKept`. */
export function keepEngineFeatures(
  tools: JobTools,
  { key, path }: EngineFeatures,
  made: { readonly frames: number; readonly complete: boolean; readonly expiresAt: Date },
  signal: AbortSignal,
): Promise<boolean> {
  return storeKept(tools, key, path, { ...made, maker: null }, signal);
}

/**
 * Keeps what a render added, for the next one. Recomputed frames are added to the count like new ones, so that the
 * content with them counts for more than the stale one, and replaces it. The render has already completed and can no
 * longer fail: errors are only logged.
 */
export async function keepAdded(
  tools: JobTools,
  { preempted }: JobContext,
  features: EngineFeatures,
  added: { readonly frames: number; readonly expiresAt: Date },
): Promise<void> {
  if (added.frames === 0 || features.complete) return;
  try {
    const made = { frames: features.frames + added.frames, complete: false, expiresAt: added.expiresAt };
    await withController({ signal: preempted, ms: KEEP_LIMIT_MS }, (limit) =>
      keepEngineFeatures(tools, features, made, limit.signal),
    );
  } catch (error) {
    tools.logger.warn('features could not be kept', { name: features.key.name, error });
  }
}

/**
 * Places the part of a content that will be read: all of it if the child may extend it. A complete one is fetched only
 * in part if that part is small, because five minutes of video are gigabytes and a render may show one second.
 */
async function place(
  tools: JobTools,
  signal: AbortSignal,
  { key, path, origin }: Target,
  { sha256, complete }: { readonly sha256: string; readonly complete: boolean },
  { readFrames, track }: EngineFeaturesRequest,
): Promise<boolean> {
  if (complete && readFrames === 0) return true;
  try {
    if (complete && readFrames < SMALL_PART * track.frames) {
      const bytes = bytesOfFirst(readFrames, origin);
      const isRight = (): boolean => isOfOrigin(path, origin);
      return await fetchFirst(tools, key, sha256, { path, bytes, isRight }, signal);
    }
    const cached = `${path}.kept`;
    if (!(await fetchKept(tools, key, sha256, cached, signal))) return false;
    // A copy, because the child writes to it and other jobs share the cached file.
    await copyFile(cached, path, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error;
    tools.logger.warn('kept features could not be fetched', { name: key.name, sha256, error });
    return false;
  }
}
