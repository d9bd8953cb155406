import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SessionError, type Tensors } from '@lipsync/engines';
import { type TensorBytes } from '../../protocol/messages';
import { copyOf, type Session, type SessionHost, type SessionOptions, type TensorSpec } from './session';

type Unsent = SessionRequest extends infer R ? (R extends SessionRequest ? Omit<R, 'id'> : never) : never;
interface Waiter {
  resolve(reply: SessionReply): void;
  reject(error: SessionError): void;
}

export type TimedSessionHost = ReturnType<typeof createSessionHost>;

/**
 * Starts the session thread: a SessionHost that also counts the time and the tensors of its graphs. `entry` is the compiled
 * session-worker; the default is the one beside this file. If the thread dies, `onLost` is called with the reason, and
 * every open and later call rejects with SessionError('closed').
 */
export function createSessionHost(
  entry = join(__dirname, 'session-worker.js'),
  onLost: (reason: string) => void = () => undefined,
) {
  const thread = new Worker(entry);
  const waiting = new Map<number, Waiter>();
  let lastId = 0;
  let busyMs = 0;
  // Runs that were handed over and not answered yet, since when there are any, and the time with some before that.
  let [handedOver, since, occupiedMs] = [0, 0, 0];
  let gpuMs = 0;
  let [given, received] = [0, 0];
  let ended: SessionError | undefined;
  let closing = false;

  const end = (message: string): void => {
    if (ended === undefined && !closing) onLost(message);
    ended ??= new SessionError('closed', message);
    for (const waiter of waiting.values()) waiter.reject(ended);
    waiting.clear();
  };
  thread.on('error', (error) =>
    end(`the session thread failed: ${error instanceof Error ? error.message : String(error)}`),
  );
  thread.on('exit', () => end('the session thread has ended'));
  thread.on('message', (reply: SessionReply) => {
    const waiter = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.type !== 'failed') return waiter?.resolve(reply);
    waiter?.reject(new SessionError(reply.reason, reply.message, reply.feeds, reply.targets));
  });

  const ask = (request: Unsent, transfer: ArrayBuffer[] = []): Promise<SessionReply> => {
    if (ended) return Promise.reject(ended);
    const id = ++lastId;
    const answer = new Promise<SessionReply>((resolve, reject) => waiting.set(id, { resolve, reject }));
    thread.postMessage({ ...request, id }, transfer);
    return answer;
  };

  const open: SessionHost['open'] = async (file, options = {}) => {
    const session = ++lastId;
    const onGpu = (options.providers?.[0] ?? 'cpu') !== 'cpu';
    const opened = await ask({ type: 'open', session, file, options });
    if (opened.type !== 'opened') throw unexpected(opened);
    const run: Session['run'] = async (feeds, targets = {}) => {
      const movable = ownBuffers(feeds);
      if (handedOver++ === 0) since = performance.now();
      const ran = await ask(
        { type: 'run', session, feeds: movable, targets },
        buffersOf(movable, targets),
      ).finally(() => {
        if (--handedOver === 0) occupiedMs += performance.now() - since;
      });
      if (ran.type !== 'ran') throw unexpected(ran);
      busyMs += ran.ms;
      if (onGpu) gpuMs += ran.ms;
      given += bytesOf(ran.feeds);
      received += bytesOf(ran.outputs);
      return { outputs: ran.outputs, feeds: ran.feeds };
    };
    const release = async (): Promise<void> => {
      await ask({ type: 'release', session });
    };
    return { inputs: opened.inputs, outputs: opened.outputs, run, release };
  };

  return {
    open,
    /** Milliseconds inside the runtime since the start, over all sessions. */
    runMs: () => busyMs,
    /** Milliseconds since the start in which some run was with the thread: inside the runtime, or on its way. */
    occupiedMs: () => occupiedMs + (handedOver > 0 ? performance.now() - since : 0),
    /** The part of `runMs` that was spent in sessions on a GPU. */
    gpuMs: () => gpuMs,
    /** Size of the tensors of all runs since the start. */
    tensorBytes: (): TensorBytes => ({ given, received }),
    close: async (): Promise<void> => {
      if (ended) return;
      closing = true;
      const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      await ask({ type: 'close' });
      await exited;
    },
  };
}

/** Transferring a view would transfer its whole buffer, and everything else stored there: such views are copied. */
function ownBuffers(feeds: Tensors): Tensors {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, tensor]) => [
      name,
      tensor.data.byteLength === tensor.data.buffer.byteLength ? tensor : copyOf(tensor),
    ]),
  );
}

function bytesOf(tensors: Tensors): number {
  return Object.values(tensors).reduce((bytes, { data }) => bytes + data.byteLength, 0);
}

function unexpected(reply: SessionReply): SessionError {
  return new SessionError('run_failed', `the session thread answered '${reply.type}'`);
}

/** To the session thread. Every request gets one reply with the same id; requests are served in order. */
export type SessionRequest =
  | {
      readonly id: number;
      readonly type: 'open';
      readonly session: number;
      readonly file: string;
      readonly options: SessionOptions;
    }
  | {
      readonly id: number;
      readonly type: 'run';
      readonly session: number;
      readonly feeds: Tensors;
      readonly targets: Tensors;
    }
  | { readonly id: number; readonly type: 'release'; readonly session: number }
  | { readonly id: number; readonly type: 'close' };

/** From the session thread. `ms` is the time inside the runtime only. */
export type SessionReply =
  | {
      readonly id: number;
      readonly type: 'opened';
      readonly inputs: readonly TensorSpec[];
      readonly outputs: readonly TensorSpec[];
    }
  | {
      readonly id: number;
      readonly type: 'ran';
      readonly outputs: Tensors;
      readonly feeds: Tensors;
      readonly ms: number;
    }
  | { readonly id: number; readonly type: 'released' }
  | { readonly id: number; readonly type: 'closed' }
  | {
      readonly id: number;
      readonly type: 'failed';
      readonly reason: SessionError['reason'];
      readonly message: string;
      /** The feeds that were transferred for a run that failed. */
      readonly feeds?: Tensors;
      readonly targets?: Tensors;
    };

/**
 * The buffers to transfer with a message that carries `groups`. Each appears once, even if tensors share it
 * (transferring a buffer twice throws).
 */
export function buffersOf(...groups: readonly Tensors[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const tensors of groups) for (const tensor of Object.values(tensors)) buffers.add(tensor.data.buffer);
  return [...buffers];
}
