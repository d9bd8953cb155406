import { useEffect, useMemo, useState } from 'preact/hooks';
import { type History, tidyHistory } from './history';
import { NOTHING, type RecentWork } from './recent-work';

const TIDY_EVERY_MS = 60_000;

/** The recent work of whoever is signed in. While the page is open, what expires is deleted. */
export function useHistory(history: History | null): RecentWork {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const refresh = (): void => setChanges((count) => count + 1);
    const tidy = (): void => {
      tidyHistory();
      refresh();
    };
    tidy();
    const timer = setInterval(tidy, TIDY_EVERY_MS);
    // Another tab has changed it.
    addEventListener('storage', refresh);
    const unsubscribe = history?.subscribe(refresh);
    return () => {
      clearInterval(timer);
      removeEventListener('storage', refresh);
      unsubscribe?.();
    };
  }, [history]);
  return useMemo(() => history?.work ?? NOTHING, [history, changes]);
}
