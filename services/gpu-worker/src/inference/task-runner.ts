import { type Engine } from '@lipsync/contract';
import { type FeatureLayout, isWorthKeeping, openEngine, readPack, type RunModel } from '@lipsync/engines';
import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type PackRef } from '@lipsync/model-pack';
import { type PackReport, type Task, type TaskResult } from '../protocol/messages';
import { createTaskProgress, type Job } from './job';
import { type Models, type SessionHosts } from './models';
import { type GraphSettings, type LoadOptions, loadPack } from './packs/load-pack';
import { analyzeVideo } from './pipeline/analyze-video';
import { createKeptMouths } from './pipeline/kept-mouths';
import { renderVideo } from './pipeline/render-video';
import { type SessionHost } from './sessions/session';
import { type TimedSessionHost } from './sessions/session-host';
import { createStageClock } from './stage-clock';
import { isOutOfMemory } from './task-failure';
import { type TaskContext } from './task-loop';

/** Runs the protocol's tasks on the files that they name. */
export function createTaskRunner(deps: {
  readonly hosts: SessionHosts<TimedSessionHost>;
  readonly models: Models;
  readonly binaries: Promise<Binaries>;
  readonly graphs: GraphSettings;
}): (task: Task, context: TaskContext) => Promise<TaskResult> {
  const { hosts, models, graphs } = deps;
  const keptMouths = createKeptMouths();
  return async (task, { report, signal }) => {
    if (task.type === 'verify') {
      const packs = [];
      for (const packDir of task.packDirs) packs.push(await verifyPack(hosts.engines, packDir, graphs));
      return { type: 'verify', packs };
    }
    if (task.type === 'warm') {
      await models.analyzer(task.analyzer);
      for (const { engine, pack } of task.engines) await models.engine(engine, pack, { probe: true });
      return { type: 'warm' };
    }
    // In a render the analyzer hears the voice and judges the output: that is neither the engine's time nor usage.
    const counted = task.type === 'render' ? [hosts.engines] : [hosts.analyzer, hosts.engines];
    const total = (of: (host: TimedSessionHost) => number): number =>
      counted.reduce((sum, host) => sum + of(host), 0);
    const spent = () => ({
      runMs: total((host) => host.runMs()),
      gpuMs: total((host) => host.gpuMs()),
      given: total((host) => host.tensorBytes().given),
      received: total((host) => host.tensorBytes().received),
      detectorRuns: models.detectorRuns(),
    });
    const before = spent();
    const replaced: ReplacedCodec[] = [];
    const job: Job = {
      binaries: { ...(await deps.binaries), onReplaced: (codec) => void replaced.push(codec) },
      models,
      keptMouths,
      clock: createStageClock({
        runMs: () => spent().runMs,
        occupiedMs: () => total((host) => host.occupiedMs()),
      }),
      progress: createTaskProgress(report),
      signal,
      inferMs: () => spent().runMs - before.runMs,
      gpuInferenceMs: () => spent().gpuMs - before.gpuMs || null,
      tensorBytes: () => {
        const { given, received } = spent();
        return { given: given - before.given, received: received - before.received };
      },
      detectorRuns: () => spent().detectorRuns - before.detectorRuns,
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
