import { type Task, type TaskPack, type TaskResult } from '../protocol/messages';

/** What the successive children of one host showed about the GPU that they share. */
export function createGraphTrials() {
  let failedJob: string | undefined;
  return {
    /**
     * Records that a child's graph failed on the GPU. The child will be replaced, because a fault in a kernel fails
     * every later call of its process. Returns whether to give up the device: true if a graph failed for another job
     * before and none has run on the GPU since.
     */
    failed(jobId: string): boolean {
      const isLost = failedJob !== undefined && failedJob !== jobId;
      failedJob ??= jobId;
      return isLost;
    },
    succeeded(result: TaskResult): void {
      // A task may have had no work for the GPU, which proves nothing.
      if ('gpuInferenceMs' in result && result.gpuInferenceMs !== null) failedJob = undefined;
    },
  };
}

/** Whether a graph failed in a part of the task that it can do without. */
export function hadGraphFailure(result: TaskResult): boolean {
  return 'graphFailed' in result && result.graphFailed;
}

/** Whether graphs of the task run on a GPU, as far as this was verified. */
export function isOnGpu(task: Task): boolean {
  return packsOf(task).some(({ provider = 'cpu' }) => provider !== 'cpu');
}

function packsOf(task: Task): readonly TaskPack[] {
  if (task.type === 'verify') return [];
  if (task.type === 'render') return [task.pack, task.analyzer];
  return [task.analyzer, ...(task.engines ?? []).map(({ pack }) => pack)];
}
