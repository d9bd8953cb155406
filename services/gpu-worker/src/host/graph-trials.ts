import { type Task, type TaskPack, type TaskResult } from '../protocol/messages';

/** What the children of one host, one after the other, showed of the GPU that they share. */
export interface GraphTrials {
  /**
   * A child's graph failed on the GPU, and the child will be replaced: a fault in a kernel fails every later call of its
   * process. Answers whether the device is to be given up: it did so for another job before, and nothing ran since.
   */
  failed(jobId: string): boolean;
  succeeded(result: TaskResult): void;
}

export function createGraphTrials(): GraphTrials {
  let failedJob: string | undefined;
  return {
    failed: (jobId) => {
      const isLost = failedJob !== undefined && failedJob !== jobId;
      failedJob ??= jobId;
      return isLost;
    },
    succeeded: (result) => {
      // A task may well have found nothing to do there, which shows nothing.
      if ('gpuInferenceMs' in result && result.gpuInferenceMs !== null) failedJob = undefined;
    },
  };
}

/** Whether graphs of the task run on a GPU, as far as it was verified. */
export function isOnGpu(task: Task): boolean {
  return packsOf(task).some(({ provider = 'cpu' }) => provider !== 'cpu');
}

function packsOf(task: Task): readonly TaskPack[] {
  if (task.type === 'verify') return [];
  if (task.type === 'render') return [task.pack, task.analyzer];
  return [task.analyzer, ...(task.engines ?? []).map(({ pack }) => pack)];
}
