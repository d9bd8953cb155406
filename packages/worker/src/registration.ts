import { type Db, heartbeatWorker, QUEUE_NAMES, registerWorker, removeWorker, type Slots } from '@lipsync/db';
import { type Lifecycle, type Logger } from '@lipsync/runtime';
import { countTurns, type Metrics, type TurnOutcome } from '@lipsync/telemetry';
import { createPeriodicLoop, type PeriodicLoop } from './periodic-loop';

const HEARTBEAT_MS = 5_000;

export interface WorkerRowOptions {
  readonly db: Db;
  readonly workerId: string;
  readonly service: string;
  readonly slots: Slots;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Removes the row before it closes what was opened earlier. */
  readonly lifecycle: Pick<Lifecycle, 'onShutdown'>;
  /** Five seconds by default. */
  readonly heartbeatMs?: number;
}

/**
 * Keeps this process registered in the table of workers, which tells the API which engines are live, and how many jobs
 * may be enqueued. Resolves once the row exists. If the database is unavailable, resolves as soon as that is
 * known, and the row is created when the database is back, because a worker that exited instead would have to load its
 * packs again.
 */
export async function keepWorkerRow(options: WorkerRowOptions): Promise<void> {
  const { db, workerId, service, slots, logger, metrics, lifecycle, heartbeatMs = HEARTBEAT_MS } = options;
  const worker = { id: workerId, service, slots };
  for (const queue of QUEUE_NAMES) {
    const here = slots[queue];
    if (here !== undefined) metrics.gauge('slots').set({ queue }, here);
  }
  const turn = async (): Promise<void> => {
    // Not registered yet, or purged after a long silence together with what this worker serves.
    if (!(await heartbeatWorker(db, workerId))) await registerWorker(db, worker);
  };
  const count = countTurns(metrics, 'worker_row', heartbeatMs);
  const keeping = new Promise<PeriodicLoop>((resolve) => {
    const onTurn = (outcome: TurnOutcome): void => {
      count(outcome);
      resolve(made);
    };
    const made = createPeriodicLoop({ name: 'worker row', everyMs: heartbeatMs, turn, onTurn, logger });
    made.start();
  });
  // Registered before the row exists: a shutdown that begins meanwhile waits for it; otherwise the row would stay
  // behind.
  lifecycle.onShutdown('worker row', async () => {
    await (await keeping).stop();
    await removeWorker(db, workerId);
  });
  await keeping;
}
