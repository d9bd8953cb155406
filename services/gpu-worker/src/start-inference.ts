import { randomUUID } from 'node:crypto';
import { type Engine, type SyncMode } from '@lipsync/contract';
import { findPacks, type UsablePack } from './host/find-packs';
import { createInferenceHost, type TaskOptions } from './host/inference-host';
import { type AnalyzeResult, type RenderResult } from './inference/protocol';

export interface RenderFiles {
  readonly engine: Engine;
  readonly videoPath: string;
  readonly audioPath: string;
  readonly outputPath: string;
  readonly syncMode: SyncMode;
  /** A face track that `analyze` wrote for the same video. */
  readonly faceTrackPath?: string;
}

/** The inference child without queue, database and object store: files in, files out. For tools and benches. */
export interface Inference {
  /** Writes the face track of a video to `outPath`. Rejects with InferenceFailure or InferenceCrash. */
  analyze(videoPath: string, outPath: string, options?: TaskOptions): Promise<AnalyzeResult>;
  /** Renders to an MP4 file. Rejects with InferenceFailure or InferenceCrash. */
  render(files: RenderFiles, options?: TaskOptions): Promise<RenderResult>;
  /** Ends the child. */
  close(): void;
}

/**
 * Starts inference with the model packs under `packsDir`; `entry` is the compiled child, by default the one of this
 * package. Rejects when there is no face analyser. One task at a time.
 */
export async function startInference(options: { packsDir: string; entry?: string }): Promise<Inference> {
  const packs = await findPacks(options.packsDir);
  const analyzer = packs.analyzer ?? missing('the face analyser', packs.problems);
  const host = createInferenceHost(options.entry === undefined ? {} : { entry: options.entry });

  return {
    analyze: (videoPath, outPath, taskOptions) =>
      host.analyze({ jobId: randomUUID(), analyzerPackDir: analyzer.dir, videoPath, outPath }, taskOptions),
    render: async (files, taskOptions) => {
      const pack = packs.engines.get(files.engine) ?? missing(files.engine, packs.problems);
      const task = { jobId: randomUUID(), packDir: pack.dir, analyzerPackDir: analyzer.dir, ...files };
      return host.render(task, taskOptions);
    },
    close: () => host.kill(),
  };
}

function missing(what: string, problems: readonly { dir: string; problem: string }[]): UsablePack {
  const reasons = problems.map(({ dir, problem }) => `${dir}: ${problem}`).join('; ');
  throw new Error(`no model pack for ${what}${reasons === '' ? '' : ` (${reasons})`}`);
}
