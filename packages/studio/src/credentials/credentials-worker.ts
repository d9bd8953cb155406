// Checks one file in a thread of its own: the library reads a Blob in pieces where it may wait for each, and only there.
import wasm from '@contentauth/c2pa-wasm/c2pa.wasm?url';
import { type Credentials, readCredentials } from '@lipsync/credentials-reader';

export type CheckAnswer = { readonly found: Credentials | null } | { readonly failure: string };

addEventListener('message', ({ data }: MessageEvent<Blob>) => {
  const answer = (message: CheckAnswer): void => postMessage(message);
  readCredentials(wasm, data).then(
    (found) => answer({ found }),
    (error: unknown) => answer({ failure: String(error) }),
  );
});
