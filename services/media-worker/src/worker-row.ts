import { type Db, heartbeatWorker, registerWorker, removeWorker } from '@lipsync/db';
import { createPeriodicLoop } from './loops/periodic-loop';
import { type Logger } from '@lipsync/runtime';

const HEARTBEAT_MS = 5_000;

/**
 * Keeps this process in the table of workers, by which admission sees how many ingests may be announced. Resolves once
 * it is there; the returned function takes it out.
 */
export async function keepWorkerRow(options: {
  db: Db;
  workerId: string;
  slots: number;
  logger: Logger;
}): Promise<() => Promise<void>> {
  const { db, workerId, slots, logger } = options;
  const worker = { id: workerId, service: 'media-worker', slots: { media: slots } };
  await registerWorker(db, worker);
  const beat = async (): Promise<void> => {
    // After a long silence the row was purged, and with it what this worker serves.
    if (!(await heartbeatWorker(db, workerId))) await registerWorker(db, worker);
  };
  const loop = createPeriodicLoop({ name: 'worker row', everyMs: HEARTBEAT_MS, turn: beat, logger });
  loop.start();
  return async () => {
    await loop.stop();
    await removeWorker(db, workerId);
  };
}
