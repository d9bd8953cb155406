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
