import { join } from 'node:path';
import { type Db } from '@lipsync/db';
import { type AssetRow } from '@lipsync/domain';
import { type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type ClaimedJob } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { type PodMeter } from '../usage/pod-meter';
import { type DiskCache, isDiskFull } from './disk-cache';
import { type OutputMarks } from './output-marks';
import { type SlotTime } from './slot-time';
import { type WorkMetrics } from './work-metrics';

/** Shared by every job of this process. */
export interface JobDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly cache: DiskCache;
  readonly packs: FoundPacks;
  /** VIDEO_OUTPUT of the inference processes. */
  readonly videoOutput: string;
  readonly podMeter: PodMeter;
  readonly marks: OutputMarks;
  readonly metrics: WorkMetrics;
  readonly logger: Logger;
}

/** One claimed job on its slot. */
export interface GpuJob extends ClaimedJob {
  readonly host: InferenceHost;
  readonly slotTime: SlotTime;
  /** Aborted when the process is about to stop; unlike `signal`, not when the job ends. */
  readonly preempted: AbortSignal;
}

/** The object store failed, or its content does not match the record. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
}

/** Runs a transfer and converts any error to StorageFailed. */
export async function transferring<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = isDiskFull(error)
      ? 'there is no room left for a transfer on the disk of this worker'
      : 'a transfer to or from the object store failed';
    throw new StorageFailed(message, { cause: error });
  }
}

/**
 * Places the bytes of a ready asset as `name` in a job's folder, from the cache if possible. Rejects with StorageFailed
 * when they cannot be fetched or do not match the record.
 */
export async function fetchAsset(
  { storage, cache }: JobDeps,
  { folder, signal }: GpuJob,
  asset: AssetRow,
  name: string,
): Promise<{ path: string; sha256: string; from: 'hit' | 'fetched' }> {
  const { customerId, objectKey, sha256 } = asset;
  if (objectKey === null || sha256 === null) throw new StorageFailed('the asset has no stored bytes');
  const path = join(folder, name);
  const fetch = (target: string): Promise<unknown> => storage.getToFile(objectKey, target);
  const from = await transferring(() => cache.place({ customerId, sha256 }, path, fetch, signal));
  return { path, sha256, from };
}
