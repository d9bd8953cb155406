import { isApiKey } from '@lipsync/client';
import { watchedFetch } from './connection';

const PATIENCE_MS = 10_000;

/** What is wrong with the form of a key; null if it could be one. */
export function keyProblem(key: string): string | null {
  if (isApiKey(key)) return null;
  if (key === '') return 'Paste your API key.';
  return 'A key begins with svc_, followed by 64 digits and letters from a to f.';
}

/** Asks the service about a key. @returns what is wrong, or null */
export async function checkKey(apiKey: string): Promise<string | null> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  try {
    const { ok, status } = await watchedFetch('/studio/key', {
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (ok) return null;
    if (status === 401)
      return 'The service does not know this key: it is mistyped, was revoked or has expired. Ask the person who gave it to you.';
    return 'The service cannot check the key at the moment. Try again in a minute.';
  } catch {
    return 'The service cannot be reached. Check your connection and try again.';
  }
}
