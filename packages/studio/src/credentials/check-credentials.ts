import { type Credentials } from '@lipsync/credentials-reader';
import { type CheckAnswer } from './credentials-worker';

/** Checks an MP4 as it is here. Null if it carries no credentials. Rejects if the reader cannot be loaded, or fails. */
export async function checkCredentials(file: Blob, signal: AbortSignal): Promise<Credentials | null> {
  const worker = new Worker(new URL('./credentials-worker.ts', import.meta.url), { type: 'module' });
  // With it goes the reader's memory.
  const end = (): void => worker.terminate();
  signal.addEventListener('abort', end);
  try {
    const answer = await new Promise<CheckAnswer>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<CheckAnswer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(file);
    });
    if ('failure' in answer) throw new Error(answer.failure);
    return answer.found;
  } finally {
    end();
  }
}
