import { join } from 'node:path';
import { createLogger, type LogFields } from '@lipsync/runtime';
import { featureKey } from '@lipsync/storage';
import { untraced } from '@lipsync/telemetry';
import { createJobFolders } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { createDiskCache } from '../supervisor/disk-cache';
import { createGpuJobRunner, type GpuJobRunner } from '../supervisor/gpu-job-runner';
import { createSlotPool } from '../supervisor/gpu-job-runner';
import { createPodMeter } from '../usage/pod-meter';
import { type RenderFixture } from './render-fixture';

const never = new AbortController().signal;

/** The stored feature of a video. */
export interface KeptRow {
  readonly name: string;
  readonly sha256: string | null;
  readonly error_code: string | null;
  readonly frames: number;
  readonly complete: boolean;
  readonly maker_job_id: string | null;
}

/** Workers that run a fixture's jobs in this process, each with its own folders, and the features that result. */
export interface TestWorkers {
  newWorker(): Promise<GpuJobRunner>;
  /** Has a new worker run the job; resolves to the fields of its log line. */
  perform(job: { readonly jobId: string }): Promise<LogFields>;
  /** Runs `work` while no child can be started. */
  withoutChildren<T>(work: () => Promise<T>): Promise<T>;
  /** The workers' warnings since the last call. */
  warnings(): string[];
  shaOf(videoId: string): Promise<string>;
  /** The stored features of a video, ordered by name. */
  kept(videoId: string): Promise<KeptRow[]>;
  /** Object key of a feature's content. */
  objectOf(videoId: string, name: string): Promise<string>;
}

/**
 * `folder` holds the workers' folders; `hosts` are the children that they share, and limit the jobs that run at once.
 */
export function createTestWorkers(options: {
  fixture: RenderFixture;
  packs: FoundPacks;
  hosts: readonly InferenceHost[];
  /** A host whose child does not start. */
  broken: InferenceHost;
  folder: string;
}): TestWorkers {
  const { fixture, packs, folder } = options;
  const allSlots = createSlotPool(options.hosts);
  let slots = allSlots;
  let count = 0;
  let warned: string[] = [];
  const lines = new Map<unknown, LogFields>();
  const silent = createLogger({ service: 'test', level: 'silent' });
  const logger = {
    ...silent,
    warn: (message: string) => void warned.push(message),
    wide: (_event: string, fields: LogFields) => void lines.set(fields['job_id'], fields),
  };

  const newWorker = async (): Promise<GpuJobRunner> => {
    const own = join(folder, `worker-${++count}`);
    return createGpuJobRunner({
      db: fixture.db,
      storage: fixture.storage,
      packs,
      cache: await createDiskCache({ folder: join(own, 'cache'), maxBytes: 1e9 }),
      folders: await createJobFolders(join(own, 'jobs')),
      slots,
      workerId: `worker-${count}`,
      limitMs: 300_000,
      telemetry: untraced(),
      podMeter: createPodMeter({ costs: [], slots: 1, gpuModels: [], logger }),
      logger,
    });
  };
  const shaOf = async (videoId: string): Promise<string> => {
    const [asset] = await fixture.factories.query<{ sha256: string }>(
      'SELECT sha256 FROM assets WHERE id = $1',
      [videoId],
    );
    return asset?.sha256 ?? '';
  };
  const kept = async (videoId: string): Promise<KeptRow[]> =>
    fixture.factories.query<KeptRow>(
      `SELECT name, sha256, error_code, frames, complete, maker_job_id FROM features
       WHERE video_sha256 = $1 ORDER BY name`,
      [await shaOf(videoId)],
    );

  return {
    newWorker,
    perform: async ({ jobId }) => {
      await (await newWorker()).run(jobId, never);
      return lines.get(jobId) ?? {};
    },
    withoutChildren: async (work) => {
      slots = createSlotPool([options.broken]);
      try {
        return await work();
      } finally {
        slots = allSlots;
      }
    },
    warnings: () => {
      const said = warned;
      warned = [];
      return said;
    },
    shaOf,
    kept,
    objectOf: async (videoId, name) => {
      const row = (await kept(videoId)).find((each) => each.name === name);
      const { customerId } = fixture;
      return featureKey({ customerId, videoSha256: await shaOf(videoId), sha256: row?.sha256 ?? '' });
    },
  };
}
