import { heartbeatWorker, registerWorker, removeWorker, type Db, type Slots } from '@lipsync/db';
import { type Logger } from '@lipsync/runtime';

/** This process in the table of workers: what the API and the admission go by. */
export interface WorkerRow {
  /** Takes the row away, so that no more jobs are meant for this process. */
  remove(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;

/** Registers at once and renews the row every five seconds until it is removed. */
export async function keepWorkerRow(options: {
  db: Db;
  workerId: string;
  slots: Slots;
  logger: Logger;
}): Promise<WorkerRow> {
  const { db, workerId, slots, logger } = options;
  const worker = { id: workerId, service: 'gpu-worker', slots };
  await registerWorker(db, worker);
  const beat = async (): Promise<void> => {
    try {
      // After a long silence the row was purged, and with it what this worker serves.
      if (!(await heartbeatWorker(db, workerId))) await registerWorker(db, worker);
    } catch (error) {
      logger.warn('worker heartbeat failed', { error });
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);

  return {
    remove: async () => {
      clearInterval(timer);
      await removeWorker(db, workerId);
    },
  };
}
