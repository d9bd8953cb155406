import { type Db } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type ClaimedJob } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { type PodMeter } from '../usage/pod-meter';
import { type DiskCache } from './disk-cache';
import { type WorkMetrics } from './work-metrics';

/** Shared by every job of this process. */
export interface JobTools {
  readonly db: Db;
  readonly storage: Pick<Storage, 'getToFile' | 'ping' | 'put'>;
  readonly cache: DiskCache;
  readonly packs: FoundPacks;
  readonly podMeter: PodMeter;
  readonly metrics: WorkMetrics;
  readonly logger: Logger;
}

/** One claimed job on its slot. */
export interface JobContext extends ClaimedJob {
  readonly host: InferenceHost;
  /** Aborted when the process is about to stop; unlike `signal`, not when the job ends. */
  readonly preempted: AbortSignal;
}
