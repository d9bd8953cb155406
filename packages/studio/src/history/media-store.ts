/** Sources of the last renders, so that a reload still has something to compare with: the service gives none back. */
const KEPT = 6;
const NAME = 'lipsync-studio';
const FILES = 'videos';

interface StoredVideo {
  readonly id: string;
  readonly file: File;
  readonly storedAt: number;
}

/** Keeps the video of a render or preparation, and drops the oldest. Never fails: it is a convenience. */
export async function keepVideo(id: string, file: File): Promise<void> {
  await withFiles('readwrite', async (files) => {
    await answer(files.put({ id, file, storedAt: Date.now() } satisfies StoredVideo));
    const all = (await answer(files.getAll())) as StoredVideo[];
    all.sort((a, b) => b.storedAt - a.storedAt);
    for (const { id: old } of all.slice(KEPT)) files.delete(old);
  });
}

/** The video of a render or preparation, or null if this browser does not have it (any more). */
export async function keptVideo(id: string): Promise<File | null> {
  const found = await withFiles(
    'readonly',
    async (files) => (await answer(files.get(id))) as StoredVideo | undefined,
  );
  return found?.file ?? null;
}

export async function forgetVideo(id: string): Promise<void> {
  await withFiles('readwrite', (files) => answer(files.delete(id)));
}

/** Undefined where the browser has no such store, as in some private windows. */
async function withFiles<T>(
  mode: IDBTransactionMode,
  use: (files: IDBObjectStore) => Promise<T>,
): Promise<T | undefined> {
  try {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(FILES, { keyPath: 'id' });
    const database = await answer(opening);
    try {
      return await use(database.transaction(FILES, mode).objectStore(FILES));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser’s store failed'));
  });
}
