/** Sources of the last renders, so that a reload still has something to compare with: the service gives none back. */
const KEPT = 6;
const NAME = 'lipsync-studio';
/** Version 1 named no owner. */
const VERSION = 2;
const VIDEOS = 'videos';

interface StoredVideo {
  /** The id of the render or the preparation. */
  readonly id: string;
  readonly owner: string;
  readonly expiresAt: string;
  readonly storedAt: number;
  readonly file: File;
}

// None of these functions fails: the videos are a convenience, and private windows may have no such store.

export async function keepVideo(video: Omit<StoredVideo, 'storedAt'>): Promise<void> {
  await withVideos('readwrite', async (videos) => {
    await answer(videos.put({ ...video, storedAt: Date.now() }));
    await tidy(videos);
  });
}

/** The owner's video; null if this browser does not have it (anymore). */
export async function findVideo(id: string, owner: string): Promise<File | null> {
  const found: unknown = await withVideos('readonly', (videos) => answer(videos.get(id)));
  if (!isLive(found) || found.owner !== owner) return null;
  if (await isReadable(found.file)) return found.file;
  await forgetVideo(id);
  return null;
}

export async function forgetVideo(id: string): Promise<void> {
  await withVideos('readwrite', (videos) => answer(videos.delete(id)));
}

/** Deletes what has expired or is damaged; with an owner, also what is not theirs. */
export async function tidyVideos(owner?: string): Promise<void> {
  await withVideos('readwrite', (videos) => tidy(videos, owner));
}

/** Deletes all, however damaged. */
export async function eraseVideos(): Promise<void> {
  try {
    await answer(indexedDB.deleteDatabase(NAME));
  } catch {
    // There is no store.
  }
}

async function tidy(videos: IDBObjectStore, owner?: string): Promise<void> {
  const kept: StoredVideo[] = [];
  // One by one: a single one that cannot be read would make `getAll` fail.
  for (const key of await answer(videos.getAllKeys())) {
    const video: unknown = await answer(videos.get(key)).catch(() => null);
    if (isLive(video) && (owner === undefined || video.owner === owner)) kept.push(video);
    else videos.delete(key);
  }
  kept.sort((a, b) => b.storedAt - a.storedAt);
  for (const { id } of kept.slice(KEPT)) videos.delete(id);
}

/** Undamaged, and not expired. */
function isLive(value: unknown): value is StoredVideo {
  const { file, expiresAt } = { ...(value as Partial<StoredVideo> | null) };
  // A time that is missing or not one counts as past.
  return file instanceof File && Date.parse(String(expiresAt)) > Date.now();
}

/** The browser may have lost the bytes of a file that it still names. */
async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function withVideos<T>(
  mode: IDBTransactionMode,
  use: (videos: IDBObjectStore) => Promise<T>,
): Promise<T | undefined> {
  try {
    const opening = indexedDB.open(NAME, VERSION);
    opening.onupgradeneeded = () => {
      const database = opening.result;
      for (const name of [...database.objectStoreNames]) database.deleteObjectStore(name);
      database.createObjectStore(VIDEOS, { keyPath: 'id' });
    };
    const database = await answer(opening);
    try {
      return await use(database.transaction(VIDEOS, mode).objectStore(VIDEOS));
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
    request.onerror = (event) => {
      // Otherwise one failure would undo the whole transaction.
      event.preventDefault();
      reject(request.error ?? new Error('the browser’s store failed'));
    };
  });
}
