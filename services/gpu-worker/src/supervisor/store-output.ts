import { retryWhile, withController } from '@lipsync/runtime';
import { isStorageUnavailable } from '@lipsync/storage';
import { type JobTools } from './job-context';
import { transferring } from './job-errors';

/** How long a finished output waits for an unavailable store; other jobs could use the slot. */
const UPLOAD_PATIENCE_MS = 120_000;

/** Uploads an output file, retrying while the store is unavailable. Rejects with StorageFailed. */
export async function storeOutput(
  { storage }: Pick<JobTools, 'storage'>,
  signal: AbortSignal,
  { key, file }: { readonly key: string; readonly file: string },
): Promise<void> {
  const upload = () => storage.put(key, { file }, { contentType: 'video/mp4', signal });
  await transferring(() =>
    withController({ signal, ms: UPLOAD_PATIENCE_MS }, (patience) =>
      retryWhile(isStorageUnavailable, patience.signal, upload),
    ),
  );
}
