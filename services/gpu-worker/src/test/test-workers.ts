import { join } from 'node:path';
import { createLogger, type LogFields } from '@lipsync/runtime';
import { featureKey } from '@lipsync/storage';
import { untraced } from '@lipsync/telemetry';
import { createJobFolders } from '@lipsync/worker';
import { type FoundPacks } from '../host/find-packs';
import { type InferenceHost } from '../host/inference-host';
import { createDiskCache } from '../supervisor/disk-cache';
import { createGpuJobRunner, createSlotPool, type GpuJobRunnerDeps } from '../supervisor/gpu-job-runner';
import { UNMARKED } from '../supervisor/output-marks';
import { fixedPrice } from '../usage/pod-cost';
import { createPodMeter } from '../usage/pod-meter';
import { type RenderFixture } from './render-fixture';

const never = new AbortController().signal;

/** The stored feature of a video. */
export interface KeptRow {
  readonly name: string;
  readonly sha256: string | null;
  readonly error_code: string | null;
  readonly seconds: number;
  readonly complete: boolean;
  readonly maker_job_id: string | null;
}

export type TestWorkers = ReturnType<typeof createTestWorkers>;

/**
 * Workers that run a fixture's jobs in this process, each with its own folders inside `folder`, and the features that
 * result.
 */
export function createTestWorkers(options: {
  fixture: RenderFixture;
  packs: FoundPacks;
  host: InferenceHost;
  folder: string;
}) {
  const { fixture, packs, folder } = options;
  let count = 0;
  let warned: string[] = [];
  const lines = new Map<unknown, LogFields>();
  const logger = {
    ...createLogger({ service: 'test', level: 'silent' }),
    warn: (message: string) => void warned.push(message),
    wide: (_event: string, fields: LogFields) => void lines.set(fields['job_id'], fields),
  };

  type Change = Partial<
    Pick<GpuJobRunnerDeps, 'packs' | 'marks' | 'videoOutput' | 'telemetry' | 'limitMs' | 'onUnfit'>
  > & {
    readonly host?: InferenceHost;
  };
  const newWorker = async ({ host = options.host, ...change }: Change = {}) => {
    const own = join(folder, `worker-${++count}`);
    return createGpuJobRunner({
      db: fixture.db,
      storage: fixture.storage,
      packs,
      marks: UNMARKED,
      videoOutput: 'source',
      cache: await createDiskCache({ folder: join(own, 'cache'), maxBytes: 1e9 }),
      folders: await createJobFolders(join(own, 'jobs')),
      slots: createSlotPool([host]),
      workerId: `worker-${count}`,
      limitMs: 300_000,
      telemetry: untraced(),
      podMeter: createPodMeter({
        costs: [fixedPrice({ usdPerHour: 3.6, incrementSeconds: 1 })],
        slots: 1,
        gpuModels: ['a GPU that nobody used'],
        logger,
      }),
      logger,
      ...change,
    });
  };
  const shaOf = async (videoId: string): Promise<string> => {
    const [asset] = await fixture.factories.query<{ sha256: string }>(
      'SELECT sha256 FROM assets WHERE id = $1',
      [videoId],
    );
    return asset?.sha256 ?? '';
  };
  /** The stored features of a video, ordered by name. */
  const kept = async (videoId: string): Promise<KeptRow[]> =>
    fixture.factories.query<KeptRow>(
      `SELECT name, sha256, error_code, seconds, complete, maker_job_id FROM features
       WHERE video_sha256 = $1 ORDER BY name`,
      [await shaOf(videoId)],
    );

  return {
    newWorker,
    /** Has a new worker run the job; resolves to the fields of its log line. */
    perform: async ({ jobId }: { readonly jobId: string }, change: Change = {}): Promise<LogFields> => {
      await (await newWorker(change)).run(jobId, never);
      return lines.get(jobId) ?? {};
    },
    /** The workers' warnings since the last call. */
    warnings: (): string[] => {
      const said = warned;
      warned = [];
      return said;
    },
    shaOf,
    kept,
    /** Object key of a feature's content. */
    objectOf: async (videoId: string, name: string): Promise<string> => {
      const row = (await kept(videoId)).find((each) => each.name === name);
      const { customerId } = fixture;
      return featureKey({ customerId, videoSha256: await shaOf(videoId), sha256: row?.sha256 ?? '' });
    },
  };
}
