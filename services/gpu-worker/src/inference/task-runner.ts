import { type Engine } from '@lipsync/contract';
import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type PackRef, readPack } from '@lipsync/model-pack';
import { type FeatureLayout, isWorthKeeping } from '../protocol/feature-layout';
import { type PackReport, type Task, type TaskResult } from '../protocol/messages';
import { openEngine } from './engines/registry';
import { createStageClock, createTaskProgress, type Job } from './job';
import { type Models } from './models';
import { type GraphSettings, type LoadOptions, loadPack } from './packs/load-pack';
import { type RunModel } from './packs/run-model';
import { analyzeVideo } from './pipeline/analyze-video';
import { renderVideo } from './pipeline/render-video';
import { type SessionHost } from './sessions/session';
import { type TimedSessionHost } from './sessions/session-host';
import { isOutOfMemory } from './task-failure';
import { type TaskContext } from './task-loop';

interface TaskRunnerOptions {
  readonly host: TimedSessionHost;
  readonly models: Models;
  readonly binaries: Promise<Binaries>;
  readonly graphs: GraphSettings;
}

/** Runs the protocol's tasks on the files that they name. */
export function createTaskRunner(
  options: TaskRunnerOptions,
): (task: Task, context: TaskContext) => Promise<TaskResult> {
  const { host, models, graphs } = options;
  return async (task, { report, signal }) => {
    if (task.type === 'verify') {
      const packs = [];
      for (const packDir of task.packDirs) packs.push(await verifyPack(host, packDir, graphs));
      return { type: 'verify', packs };
    }
    if (task.type === 'warm') {
      await models.analyzer(task.analyzer);
      for (const { engine, pack } of task.engines) await models.engine(engine, pack, { probe: true });
      return { type: 'warm' };
    }
    const before = { runMs: host.runMs(), gpuMs: host.gpuMs(), detectorRuns: models.detectorRuns() };
    const replaced: ReplacedCodec[] = [];
    const job: Job = {
      binaries: { ...(await options.binaries), onReplaced: (codec) => void replaced.push(codec) },
      models,
      clock: createStageClock(),
      progress: createTaskProgress(report),
      signal,
      inferMs: () => host.runMs() - before.runMs,
      gpuMs: () => host.gpuMs() - before.gpuMs,
      detectorRuns: () => models.detectorRuns() - before.detectorRuns,
      replacedCodecs: () => replaced,
    };
    try {
      return await (task.type === 'render' ? renderVideo(task, job) : analyzeVideo(task, job));
    } catch (error) {
      // Makes room for the next attempt, or for another process's task on the same device.
      if (isOutOfMemory(error)) await models.releaseEngines();
      throw error;
    }
  };
}

/**
 * Opens a pack, loads all its graphs, runs the probes and releases them again. Never rejects: failures are reported.
 */
export async function verifyPack(
  host: SessionHost,
  packDir: string,
  options: Omit<LoadOptions, 'probe' | 'only'>,
): Promise<PackReport> {
  try {
    const pack = await readPack(packDir);
    const { engine } = pack.manifest;
    const loaded = await loadPack(host, pack, { ...options, probe: true });
    const { provider, passedOver } = loaded;
    try {
      const features = engine === 'analyzer' ? undefined : await keptLayout(engine, pack, loaded.run);
      return {
        ...{ packDir, provider },
        ...(passedOver.length > 0 && { passedOver }),
        ...(features && { features }),
      };
    } finally {
      await loaded.release();
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { packDir, problem, ...(isOutOfMemory(error) && { shortOfMemory: true }) };
  }
}

/** The layout of the features that an engine keeps with this pack, if any. */
async function keptLayout(engine: Engine, pack: PackRef, run: RunModel): Promise<FeatureLayout | undefined> {
  const { features } = (await openEngine(engine, pack)).create(run);
  return isWorthKeeping(features) ? features : undefined;
}
