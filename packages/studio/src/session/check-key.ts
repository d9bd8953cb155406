import { ApiError, isApiKey, LipSync } from '@lipsync/client';
import { failureOf } from '../errors/failure';
import { watchedFetch } from './connection';

/** What is wrong with the form of a key; null if it could be one. */
export function keyProblem(key: string): string | null {
  if (isApiKey(key)) return null;
  if (key === '') return 'Paste your API key.';
  return 'A key begins with svc_, followed by 64 digits and letters from a to f.';
}

/** Asks the service about a key. @returns what is wrong, or null */
export async function checkKey(apiKey: string): Promise<string | null> {
  const client = new LipSync({
    apiKey,
    baseUrl: location.origin,
    // For its errors and repetitions, whatever it asks for: no operation answers 200 for the key alone, and browsers log
    // a 404 as a failure, expected or not.
    fetch: (_, init) => watchedFetch('/studio/key', init),
    maxRetries: 1,
    timeoutMs: 10_000,
  });
  try {
    await client.renders.get('of-nobody');
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_api_key')
      return 'The service does not know this key: it is mistyped, was revoked or has ended. Ask the person who gave it to you.';
    const failure = failureOf(error);
    return failure === null ? null : `${failure.title}. ${failure.hint}`;
  }
}
