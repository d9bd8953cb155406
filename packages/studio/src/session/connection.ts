import { type Fetch } from '@lipsync/client';
import { useEffect, useState } from 'preact/hooks';
import { noteServiceTime } from './service-clock';

/** Why the service cannot be reached, as far as this page knows: this computer is offline, or the service silent. */
export type Lost = 'offline' | 'silent';

const ASK_EVERY_MS = 3000;

let lost: Lost | null = navigator.onLine ? null : 'offline';
const listeners = new Set<() => void>();

function note(now: Lost | null): void {
  if (lost === now) return;
  lost = now;
  for (const listener of listeners) listener();
}

// A service on this very computer answers without a network, too: then the next answer says so.
addEventListener('offline', () => note('offline'));

/** The fetch of all requests: every answer of the service, of whatever kind, says that it can be reached, and the time. */
export const watchedFetch: Fetch = async (url, init) => {
  const isService = new URL(url, location.href).origin === location.origin;
  try {
    const answer = await fetch(url, init);
    if (isService) {
      note(null);
      noteServiceTime(answer.headers.get('date'));
    }
    return answer;
  } catch (error) {
    if (isService && init.signal?.aborted !== true) note(navigator.onLine ? 'silent' : 'offline');
    throw error;
  }
};

export function connectionLost(): Lost | null {
  return lost;
}

/** Follows the connection. Once it is lost, the service is asked until it answers. */
export function useConnection(): Lost | null {
  const [now, setNow] = useState(lost);
  useEffect(() => {
    const update = (): void => setNow(lost);
    update();
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  useEffect(() => {
    if (now === null) return undefined;
    const ask = (): void =>
      void watchedFetch('/studio', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
    ask();
    const timer = setInterval(ask, ASK_EVERY_MS);
    addEventListener('online', ask);
    return () => {
      clearInterval(timer);
      removeEventListener('online', ask);
    };
  }, [now]);
  return now;
}
