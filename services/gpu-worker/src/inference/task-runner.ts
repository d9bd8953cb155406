import { type Engine } from '@lipsync/contract';
import { type FeatureLayout, isWorthKeeping, openEngine, readPack, type RunModel } from '@lipsync/engines';
import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type PackRef } from '@lipsync/model-pack';
import { type PackReport, type Task, type TaskResult } from '../protocol/messages';
import { createStageClock, createTaskProgress, type Job } from './job';
import { type Models } from './models';
import { type GraphSettings, type LoadOptions, loadPack } from './packs/load-pack';
import { analyzeVideo } from './pipeline/analyze-video';
import { renderVideo } from './pipeline/render-video';
import { type SessionHost } from './sessions/session';
import { type TimedSessionHost } from './sessions/session-host';
import { isOutOfMemory } from './task-failure';
import { type TaskContext } from './task-loop';

/** Runs the protocol's tasks on the files that they name. */
export function createTaskRunner(deps: {
  readonly host: TimedSessionHost;
  readonly models: Models;
  readonly binaries: Promise<Binaries>;
  readonly graphs: GraphSettings;
}): (task: Task, context: TaskContext) => Promise<TaskResult> {
  const { host, models, graphs } = deps;
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
    const before = {
      runMs: host.runMs(),
      gpuMs: host.gpuMs(),
      tensorBytes: host.tensorBytes(),
      detectorRuns: models.detectorRuns(),
    };
    const replaced: ReplacedCodec[] = [];
    const job: Job = {
      binaries: { ...(await deps.binaries), onReplaced: (codec) => void replaced.push(codec) },
      models,
      clock: createStageClock(),
      progress: createTaskProgress(report),
      signal,
      inferMs: () => host.runMs() - before.runMs,
      gpuInferenceMs: () => host.gpuMs() - before.gpuMs || null,
      tensorBytes: () => {
        const { given, received } = host.tensorBytes();
        return { given: given - before.tensorBytes.given, received: received - before.tensorBytes.received };
      },
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
    const { provider, passedOver, probes } = loaded;
    try {
      const features = engine === 'analyzer' ? undefined : await cachedLayout(engine, pack, loaded.run);
      return {
        packDir,
        provider,
        ...(passedOver.length > 0 && { passedOver }),
        ...(probes.length > 0 && { probes }),
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

/** The layout of the features that an engine caches with this pack, if any. */
async function cachedLayout(
  engine: Engine,
  pack: PackRef,
  run: RunModel,
): Promise<FeatureLayout | undefined> {
  const { features } = (await openEngine(engine, pack)).create(run);
  return isWorthKeeping(features) ? features : undefined;
}
