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
  /** Takes the row out before it closes what was opened earlier. */
  readonly lifecycle: Pick<Lifecycle, 'onShutdown'>;
  /** Five seconds unless told. */
  readonly heartbeatMs?: number;
}

/**
 * Keeps this process in the table of workers, by which the API sees which engines there are and admission how many
 * jobs may be announced. Resolves once it is there; while the database is away, once that is known: the row is made as
 * soon as it is back, for a worker that ended over it would load its packs anew.
 */
export async function keepWorkerRow(options: WorkerRowOptions): Promise<void> {
  const { db, workerId, service, slots, logger, metrics, lifecycle, heartbeatMs = HEARTBEAT_MS } = options;
  const worker = { id: workerId, service, slots };
  for (const queue of QUEUE_NAMES) {
    const here = slots[queue];
    if (here !== undefined) metrics.gauge('slots').set({ queue }, here);
  }
  const turn = async (): Promise<void> => {
    // Not yet there; or purged after a long silence, and with it what this worker serves.
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
  // Before the row is there: a shutdown that begins meanwhile waits for it, or it would stay behind.
  lifecycle.onShutdown('worker row', async () => {
    await (await keeping).stop();
    await removeWorker(db, workerId);
  });
  await keeping;
}
