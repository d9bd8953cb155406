import { type Claim, type Db, type JobStage } from '@lipsync/db';
import { type Storage } from '@lipsync/storage';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { type DiskCache } from './disk-cache';

/** What every job of this process shares. */
export interface JobTools {
  readonly db: Db;
  readonly storage: Pick<Storage, 'getToFile' | 'put'>;
  readonly cache: DiskCache;
  readonly packs: FoundPacks;
}

/** One claimed job on its slot. */
export interface JobContext {
  readonly claim: Claim;
  readonly host: InferenceHost;
  /** An empty folder that is removed when the job ends. */
  readonly folder: string;
  /** Aborted when the job must stop: lease lost, time limit, shutdown. */
  readonly signal: AbortSignal;
  readonly report: (stage: JobStage, percent: number) => void;
}

/** What a completed job says in its log line. */
export type JobFacts = Readonly<Record<string, unknown>>;
