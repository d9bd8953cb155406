import { useEffect, useState } from 'preact/hooks';
import { checkKey } from './check-key';
import { beginSession, endSession, isSignedOut, type Session, signOut, storedSession } from './session';

/** Why the key is asked for: there is none, or it was refused. */
export type Asking = 'first' | 'refused';

interface SessionState {
  readonly session: Session | null;
  /** Null while the key is not asked for. */
  readonly asking: Asking | null;
  readonly ask: (reason: Asking | null) => void;
  /** Resolves to null when the service accepts the key, otherwise to what is wrong. */
  readonly signIn: (key: string) => Promise<string | null>;
  readonly signOut: () => void;
  /** The service no longer accepts the key. */
  readonly refuse: () => void;
}

/** The tab's session. `onSignOut` is called when it was signed out of, here or in another tab. */
export function useSession(onSignOut: () => void): SessionState {
  const [session, setSession] = useState(storedSession);
  const [asking, ask] = useState<Asking | null>(session === null ? 'first' : null);

  const leave = (): void => {
    setSession(null);
    ask(null);
    onSignOut();
  };
  useEffect(() => {
    if (session === null) return undefined;
    const check = (): void => {
      if (!isSignedOut()) return;
      endSession();
      leave();
    };
    // Also what happened before the page was on screen.
    check();
    addEventListener('storage', check);
    // A page that comes back with the browser's back button has slept meanwhile.
    addEventListener('pageshow', check);
    return () => {
      removeEventListener('storage', check);
      removeEventListener('pageshow', check);
    };
  }, [session]);

  return {
    session,
    asking,
    ask,
    signIn: async (key) => {
      const problem = await checkKey(key);
      if (problem !== null) return problem;
      setSession(await beginSession(key));
      ask(null);
      return null;
    },
    signOut: () => {
      signOut();
      leave();
    },
    refuse: () => {
      endSession();
      setSession(null);
      ask('refused');
    },
  };
}
