/** The object store failed, or its content does not match the record. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
}

/** Runs a transfer and converts any error to StorageFailed. */
export async function transferring<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = isDiskFull(error)
      ? 'there is no room left for a transfer on the disk of this worker'
      : 'a transfer to or from the object store failed';
    throw new StorageFailed(message, { cause: error });
  }
}

/** Whether there was no room for what this process wanted to write. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
