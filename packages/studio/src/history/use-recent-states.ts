import { ApiError, type LipSync } from '@lipsync/client';
import { useEffect } from 'preact/hooks';
import { type History } from './history';
import { isOpen, stateOf } from './render-state';

const LOOK_EVERY_MS = 5000;
/** So many at a time, one after the other: the limits of a key are for its renders. */
const AT_ONCE = 6;

/** Looks at the renders that have not ended, newest first, for as long as the list of them is seen. */
export function useRecentStates(client: LipSync, history: History): void {
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      clearTimeout(timer);
      if (document.visibilityState === 'hidden') return;
      const open = history.work.renders.filter(isOpen).slice(0, AT_ONCE);
      for (const { id } of open) await refresh(client, history, id, signal);
      if (open.length > 0 && !signal.aborted) timer = setTimeout(() => void look(), LOOK_EVERY_MS);
    };
    const onVisible = (): void => void look();
    onVisible();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      controller.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [client, history]);
}

async function refresh(client: LipSync, history: History, id: string, signal: AbortSignal): Promise<void> {
  try {
    history.noteState(id, stateOf(await client.renders.get(id, { signal })));
  } catch (error) {
    // Whatever else went wrong is seen when the render is opened; the next look may succeed.
    if (error instanceof ApiError && ['render_not_found', 'render_expired'].includes(error.code))
      history.noteState(id, { status: 'gone' });
  }
}
