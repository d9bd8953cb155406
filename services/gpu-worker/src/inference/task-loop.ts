import {
  type FromInference,
  type InferenceStage,
  type Task,
  type TaskResult,
  type ToInference,
} from '../protocol/messages';
import { Cancelled, taskFailure } from './task-failure';

export interface TaskContext {
  /** Aborted with Cancelled when the supervisor requests it; checked between batches. */
  readonly signal: AbortSignal;
  readonly report: (stage: InferenceStage, percent: number) => void;
}

/**
 * Serves tasks one after another: `perform` does the work, every task is answered by exactly one `done` or `failed`,
 * and a cancel aborts the task that it names. Returns the function to call with each message from the supervisor.
 */
export function createTaskLoop(
  perform: (task: Task, context: TaskContext) => Promise<TaskResult>,
  send: (message: FromInference) => void,
): (message: ToInference) => void {
  let previous = Promise.resolve();
  const cancels = new Map<string, AbortController>();

  async function serve(task: Task, cancel: AbortController): Promise<void> {
    const { jobId } = task;
    try {
      cancel.signal.throwIfAborted();
      const report: TaskContext['report'] = (stage, percent) =>
        send({ type: 'progress', jobId, stage, percent });
      send({ type: 'done', jobId, result: await perform(task, { signal: cancel.signal, report }) });
    } catch (error) {
      // Stopping makes pipes and processes fail in various ways, all of which the cancel causes.
      send({ type: 'failed', jobId, ...taskFailure(cancel.signal.aborted ? cancel.signal.reason : error) });
    } finally {
      if (cancels.get(jobId) === cancel) cancels.delete(jobId);
    }
  }

  return (message) => {
    if (message.type === 'ping') {
      send({ type: 'pong' });
      return;
    }
    if (message.type === 'cancel') {
      cancels.get(message.jobId)?.abort(new Cancelled('the supervisor asked to stop'));
      return;
    }
    const cancel = new AbortController();
    cancels.set(message.jobId, cancel);
    previous = previous.then(() => serve(message, cancel));
  };
}
