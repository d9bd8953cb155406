import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { type Readable } from 'node:stream';
import {
  type AnalyzeResult,
  type AnalyzeTask,
  type FromInference,
  type InferenceStage,
  type RenderResult,
  type RenderTask,
  type Task,
  type TaskResult,
  type ToInference,
  type VerifyResult,
  type VerifyTask,
  type WarmResult,
  type WarmTask,
} from '../protocol/messages';
import { childEnvironment } from './child-environment';
import { createGraphTrials, hadGraphFailure, isOnGpu } from './graph-trials';
import { InferenceCrash, InferenceFailure } from './inference-error';

export interface TaskOptions {
  /** Called for every step of the child; percent never falls within a stage. */
  readonly onProgress?: (stage: InferenceStage, percent: number) => void;
  /**
   * Aborting asks the child to stop after the current batch. The child is killed if it has not after `cancelGraceMs`.
   */
  readonly signal?: AbortSignal;
}

/**
 * One inference process at a time, started on first use, reused between tasks and replaced after it has ended. Runs one
 * task at a time. Tasks reject with InferenceFailure (the child lives on, unless its graph failed on a GPU, in which
 * case the host ends it) or InferenceCrash (the child ended by itself).
 */
export interface InferenceHost {
  render(task: RenderTask, options?: TaskOptions): Promise<RenderResult>;
  analyze(task: AnalyzeTask, options?: TaskOptions): Promise<AnalyzeResult>;
  verify(task: VerifyTask, options?: TaskOptions): Promise<VerifyResult>;
  warm(task: WarmTask, options?: TaskOptions): Promise<WarmResult>;
  /** Ends the process at once; a running task rejects with InferenceCrash. */
  kill(): void;
  /** The process id of the living child, for diagnosis. */
  pid(): number | undefined;
}

interface Child {
  readonly process: ChildProcess;
  readonly stderr: () => string;
  /** Why the host ended the child, if it did. */
  endedBy: EndedBy | undefined;
}

type EndedBy = 'request' | 'unresponsive' | 'silent' | 'graph_failed';

/**
 * Why a child is gone that was not asked to go: through its own fault; killed from outside (by an operator, or by the
 * kernel when memory runs out); ended by the host because it ignored a cancel, sent nothing at all or had a graph fail
 * on its GPU; or because it never started.
 */
export type InferenceLoss = 'crashed' | 'killed' | 'unresponsive' | 'silent' | 'graph_failed' | 'not_started';

const CANCEL_GRACE_MS = 5_000;
/**
 * A child that sends nothing for this long during a task hangs. Its graphs run and load on a separate thread, so pixel
 * kernels and file reads delay its replies by less than a second. A machine that swaps, or whose disk does not respond,
 * delays them longer.
 */
const SILENCE_MS = 120_000;

/**
 * The child's heap is small, because pictures and tensors lie outside it. The garbage collector counts the megabytes
 * that move between threads against the heap's size. Unless the heap may grow by this percentage, every few batches
 * trigger a full collection that finds nothing, which takes up to a sixth of a render's time. Short-lived objects need
 * few megabytes; without a limit, their space grows with the length of a job.
 */
const HEAP = ['--heap-growing-percent=800', '--max-semi-space-size=4'];

/**
 * The child's media tools run as the same user. One that a file has taken over could send the signal that opens Node's
 * debugger, and with it everything that the child may do. Older versions of Node do not know the option.
 */
const NO_DEBUGGER = ['--disable-sigusr1'].filter((option) => process.allowedNodeEnvironmentFlags.has(option));

/** The compiled entry of the child, beside this file's folder. */
const INFERENCE_ENTRY = join(__dirname, '../inference/main.js');

/**
 * `program` runs `entry` and defaults to Node itself. `environment` defaults to this process's own; the child sees only
 * what `childEnvironment` lets through.
 */
export function createInferenceHost(
  options: {
    entry?: string;
    program?: string;
    cancelGraceMs?: number;
    silenceMs?: number;
    environment?: Readonly<Record<string, string | undefined>>;
    /** Called when a child is lost. The next task starts another one. */
    onLost?: (reason: InferenceLoss) => void;
  } = {},
): InferenceHost {
  const { entry = INFERENCE_ENTRY, program = process.execPath } = options;
  const { cancelGraceMs = CANCEL_GRACE_MS, silenceMs = SILENCE_MS } = options;
  const onLost = options.onLost ?? (() => undefined);
  const environment = childEnvironment(options.environment ?? process.env);
  const trials = createGraphTrials();
  let current: Child | undefined;

  function start(): Child {
    const process_ = fork(entry, [], {
      env: environment,
      execPath: program,
      execArgv: [...HEAP, ...NO_DEBUGGER],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const stderr = process_.stderr ? keepTail(process_.stderr) : () => '';
    const child: Child = { process: process_, stderr, endedBy: undefined };
    const forget = (_code: unknown, signal?: NodeJS.Signals | null): void => {
      if (current !== child) return;
      current = undefined;
      const reason = lossOf(child, signal);
      if (reason !== null) onLost(reason);
    };
    // A process that could not be started (no memory, no more processes) emits an error and nothing else.
    process_.on('exit', forget).on('error', forget);
    return child;
  }

  function run(task: Task, { onProgress, signal }: TaskOptions): Promise<TaskResult> {
    const child = (current ??= start());
    return new Promise((resolve, reject) => {
      let killTimer: NodeJS.Timeout | undefined;
      let outcome: (() => void) | undefined;
      const listening = listenForSigns({
        withinMs: silenceMs,
        ask: () => send(child.process, { type: 'ping' }),
        onSilence: () => end(child, 'silent'),
      });

      const cancel = (): void => {
        send(child.process, { type: 'cancel', jobId: task.jobId });
        killTimer ??= setTimeout(() => end(child, 'unresponsive'), cancelGraceMs);
      };
      const settle = (finish: () => void): void => {
        clearTimeout(killTimer);
        listening.stop();
        signal?.removeEventListener('abort', cancel);
        child.process.off('message', onMessage);
        child.process.off('close', onClose);
        child.process.off('error', onError);
        finish();
      };
      /** Reports the outcome only once the child is gone: the next task then gets a fresh one and the freed memory. */
      const replaceChild = (finish: () => void): void => {
        outcome = finish;
        end(child, 'graph_failed');
      };
      const onMessage = (message: FromInference): void => {
        listening.heard();
        if (message.type === 'ready' || message.type === 'pong' || message.jobId !== task.jobId) return;
        if (message.type === 'progress') onProgress?.(message.stage, message.percent);
        else if (message.type === 'done') {
          const finish = (): void => resolve(message.result);
          trials.succeeded(message.result);
          if (hadGraphFailure(message.result) && isOnGpu(task)) replaceChild(finish);
          else settle(finish);
        } else if (message.graphFailed && isOnGpu(task)) {
          const code = trials.failed(task.jobId) ? 'device_lost' : message.code;
          replaceChild(() => reject(new InferenceFailure(code, message.detail)));
        } else settle(() => reject(new InferenceFailure(message.code, message.detail)));
      };
      // Use 'close', not 'exit': stderr is complete only then.
      const onClose = (code: number | null, killedBy: NodeJS.Signals | null): void =>
        settle(outcome ?? (() => reject(crashOf(child, { code, signal: killedBy }))));
      const onError = (error: Error): void =>
        settle(() => reject(new InferenceCrash({ code: null, signal: null }, error.message)));

      child.process.on('message', onMessage);
      child.process.on('close', onClose);
      child.process.on('error', onError);
      send(child.process, task);
      if (signal?.aborted) cancel();
      else signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  return {
    render: async (task, taskOptions = {}) => {
      const result = await run({ type: 'render', ...task }, taskOptions);
      if (result.type !== 'render') throw wrongResult(result);
      return result;
    },
    analyze: async (task, taskOptions = {}) => {
      const result = await run({ type: 'analyze', ...task }, taskOptions);
      if (result.type !== 'analyze') throw wrongResult(result);
      return result;
    },
    verify: async (task, taskOptions = {}) => {
      const result = await run({ type: 'verify', ...task }, taskOptions);
      if (result.type !== 'verify') throw wrongResult(result);
      return result;
    },
    warm: async (task, taskOptions = {}) => {
      const result = await run({ type: 'warm', ...task }, taskOptions);
      if (result.type !== 'warm') throw wrongResult(result);
      return result;
    },
    kill: () => {
      if (current) end(current, 'request');
    },
    pid: () => current?.process.pid,
  };
}

function end(child: Child, by: EndedBy): void {
  child.endedBy ??= by;
  child.process.kill('SIGKILL');
}

function crashOf({ endedBy, stderr }: Child, exit: InferenceCrash['exit']): InferenceCrash {
  return new InferenceCrash(exit, stderr(), { hung: endedBy === 'silent' });
}

/** Null when the child was asked to go. */
function lossOf({ process: { pid }, endedBy }: Child, signal?: NodeJS.Signals | null): InferenceLoss | null {
  if (endedBy !== undefined) return endedBy === 'request' ? null : endedBy;
  if (pid === undefined) return 'not_started';
  return signal === 'SIGKILL' ? 'killed' : 'crashed';
}

/** A child that has just died cannot receive messages; its 'close' event reports the death. */
function send(child: ChildProcess, message: ToInference): void {
  if (child.connected) child.send(message, () => undefined);
}

function wrongResult(result: TaskResult): InferenceFailure {
  return new InferenceFailure('internal_error', `unexpected result '${result.type}'`);
}

/** Pings within the time that a child may be silent. */
const PINGS = 8;

/**
 * Pings a child regularly. Calls `onSilence` once if no message of any kind arrives within about `withinMs`. The limit
 * counts unanswered pings, not time: if this process is paused, messages that arrived meanwhile are read only afterwards,
 * and the pause must count as a single ping.
 */
function listenForSigns(options: { withinMs: number; ask: () => void; onSilence: () => void }): {
  heard: () => void;
  stop: () => void;
} {
  const { withinMs, ask, onSilence } = options;
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered === PINGS) {
      clearInterval(timer);
      onSilence();
      return;
    }
    unanswered += 1;
    ask();
  }, withinMs / PINGS);
  return {
    heard: () => {
      unanswered = 0;
    },
    stop: () => clearInterval(timer),
  };
}

const KEPT_CHARACTERS = 4_000;

/** Reads a stream to its end and keeps only its last characters, so that a chatty child costs no memory. */
export function keepTail(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-KEPT_CHARACTERS);
  });
  return () => tail.trim();
}
