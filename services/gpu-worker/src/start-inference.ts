import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { usedVideoSeconds } from '@lipsync/domain';
import { isMediaError, probe, type ProbeResult, resolveBinaries } from '@lipsync/media';
import { sha256OfFile } from '@lipsync/model-pack';
import { findPacks, type UsablePack } from './host/find-packs';
import { createInferenceHost, type TaskOptions } from './host/inference-host';
import {
  type AnalyzeResult,
  type AnalyzeTask,
  type FeaturesTask,
  type RenderResult,
  type RenderTask,
} from './protocol/messages';

interface RenderFiles extends Omit<RenderTask, 'jobId' | 'pack' | 'analyzer' | 'faceTrackPath'> {
  /** A face track that `analyze` wrote for the same video; without one the video is analyzed first. */
  readonly faceTrackPath?: string;
}

interface AnalyzeFiles extends Omit<AnalyzeTask, 'jobId' | 'analyzer' | 'engines'> {
  /** Engines to compute features for, and the files to write them to. */
  readonly engines?: readonly Omit<FeaturesTask, 'pack'>[];
}

interface RenderedFiles extends RenderResult {
  /** The analysis before the render; null when a face track was given. */
  readonly analysis: AnalyzeResult | null;
}

/** The inference child without queue, database and object store: files in, files out. For tools and benchmarks. */
export interface Inference {
  /** Rejects with InferenceFailure or InferenceCrash. */
  analyze(files: AnalyzeFiles, options?: TaskOptions): Promise<AnalyzeResult>;
  /** Renders to an MP4 file. Rejects with InferenceFailure or InferenceCrash. */
  render(files: RenderFiles, options?: TaskOptions): Promise<RenderedFiles>;
  /** The process id of the child, from its first task on. */
  pid(): number | undefined;
  /** Ends the child. */
  close(): void;
}

/**
 * Starts inference with the model packs under `packsDir`; `entry` is the compiled child, by default this package's.
 * Rejects when there is no face analyzer. One task at a time.
 */
export async function startInference(options: { packsDir: string; entry?: string }): Promise<Inference> {
  const packs = await findPacks(options.packsDir);
  const analyzer = packs.analyzer ?? missing('the face analyzer', packs.problems);
  const host = createInferenceHost(options.entry === undefined ? {} : { entry: options.entry });
  const ingested = createIngest();
  const packOf = (engine: Engine): UsablePack => packs.engines.get(engine) ?? missing(engine, packs.problems);

  const analyze: Inference['analyze'] = async ({ engines = [], ...files }, taskOptions) => {
    const { streams } = await ingested(files.videoPath, 'video');
    const task = { jobId: randomUUID(), analyzer, ...streams, ...files };
    const wanted = engines.map((features) => ({ ...features, pack: packOf(features.engine) }));
    return host.analyze({ ...task, engines: wanted }, taskOptions);
  };
  const render = async (
    files: RenderFiles & { faceTrackPath: string },
    taskOptions?: TaskOptions,
  ): Promise<RenderResult> => {
    const video = await ingested(files.videoPath, 'video');
    const audio = await ingested(files.audioPath, 'audio');
    const task = { jobId: randomUUID(), pack: packOf(files.engine), analyzer, videoKey: video.sha256 };
    return host.render({ ...task, ...video.streams, ...audio.streams, ...files }, taskOptions);
  };

  return {
    analyze,
    render: async (files, taskOptions) => {
      const { faceTrackPath, videoPath } = files;
      if (faceTrackPath !== undefined) {
        return { ...(await render({ ...files, faceTrackPath }, taskOptions)), analysis: null };
      }
      const folder = await mkdtemp(join(tmpdir(), 'track-'));
      try {
        const trackPath = join(folder, 'face-track.bin');
        const { streams } = await ingested(files.audioPath, 'audio');
        const wantedSeconds = usedVideoSeconds(files.syncMode, streams.audio?.durationSeconds ?? 0);
        const analysis = await analyze({ videoPath, trackPath, wantedSeconds }, taskOptions);
        return { ...(await render({ ...files, faceTrackPath: trackPath }, taskOptions)), analysis };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    pid: () => host.pid(),
    close: () => host.kill(),
  };
}

const PROBE_DEADLINE_MS = 600_000;

interface Ingested {
  /** Empty for what an ingest would refuse: the child says what is wrong with it. */
  readonly streams: ProbeResult;
  readonly sha256: string;
}

/** Knows of files what the service's ingest finds out, each time that one has changed. */
function createIngest() {
  const known = new Map<string, Promise<Ingested>>();

  const ingest = async (path: string, mediaType: 'video' | 'audio'): Promise<Ingested> => {
    const binaries = await resolveBinaries(process.env);
    const probed = probe(binaries, path, { mediaType, deadlineMs: PROBE_DEADLINE_MS });
    const streams = await probed.catch((error: unknown) => {
      if (isMediaError(error)) return {};
      throw error;
    });
    return { streams, sha256: await sha256OfFile(path) };
  };

  return async (path: string, mediaType: 'video' | 'audio'): Promise<Ingested> => {
    const { size, mtimeMs } = await stat(path);
    const key = JSON.stringify([path, size, mtimeMs, mediaType]);
    const found = known.get(key) ?? ingest(path, mediaType);
    known.set(key, found);
    return found;
  };
}

function missing(what: string, problems: readonly { dir: string; problem: string }[]): UsablePack {
  const reasons = problems.map(({ dir, problem }) => `${dir}: ${problem}`).join('; ');
  throw new Error(`no model pack for ${what}${reasons === '' ? '' : ` (${reasons})`}`);
}
