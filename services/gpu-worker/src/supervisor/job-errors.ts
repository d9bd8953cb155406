/** The engine's wall-clock limit has passed. */
export class JobTimeout extends Error {
  override readonly name = 'JobTimeout';
}

/** This process is going away and the job did not end within the grace. */
export class Preempted extends Error {
  override readonly name = 'Preempted';
}

/** The object store failed, or holds other bytes than were recorded. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
}

/** Runs a transfer and makes whatever goes wrong in it a StorageFailed. */
export async function transferring<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StorageFailed('a transfer to or from the object store failed', { cause: error });
  }
}
