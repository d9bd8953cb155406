import { type Binaries, type ReplacedCodec } from '@lipsync/media';
import { type Task, type TaskResult } from '../protocol/messages';
import { analyzeVideo } from './analyze-video';
import { type Job } from './job';
import { type Models } from './models';
import { type GraphSettings } from './packs/load-pack';
import { createStageClock } from './pipeline/stage-clock';
import { isOutOfMemory } from './pipeline/task-failure';
import { createTaskProgress } from './pipeline/task-progress';
import { renderVideo } from './render-video';
import { type TimedSessionHost } from './sessions/session-host';
import { type TaskContext } from './task-loop';
import { verifyPack } from './verify-pack';

export interface TaskRunnerOptions {
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
