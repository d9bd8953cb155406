import { LipSync } from '@lipsync/client';
import { eraseHistory, History } from '../history/history';
import { browserStore, tabStore } from '../shared/browser-store';
import { watchedFetch } from './connection';

/** What somebody who is signed in may use, and what the browser remembers of their work. */
export interface Session {
  readonly client: LipSync;
  readonly history: History;
}

// The key lives as long as the tab: what another page or a later user could read keeps no key.
const KEY = 'lipsync-studio.api-key';
const OWNER = 'lipsync-studio.owner';
/** The browser's last sign-out when the session began. */
const SIGNED_OUT_BEFORE = 'lipsync-studio.signed-out-before';
/** The same for all tabs. */
const LAST_SIGN_OUT = 'lipsync-studio.last-sign-out';

const lastSignOut = (): string => browserStore.getItem(LAST_SIGN_OUT) ?? 'never';

/** The tab's session, as it was before a reload. */
export function storedSession(): Session | null {
  const apiKey = tabStore.getItem(KEY);
  const owner = tabStore.getItem(OWNER);
  if (apiKey !== null && owner !== null && !isSignedOut()) return open(apiKey, owner);
  endSession();
  return null;
}

/** Begins a session with a key that the service accepts. What others have left in this browser is deleted. */
export async function beginSession(apiKey: string): Promise<Session> {
  const owner = await ownerOf(apiKey);
  tabStore.setItem(KEY, apiKey);
  tabStore.setItem(OWNER, owner);
  tabStore.setItem(SIGNED_OUT_BEFORE, lastSignOut());
  const session = open(apiKey, owner);
  session.history.claim();
  return session;
}

/** Whether somebody has signed out since the tab's session began, in whichever tab. */
export function isSignedOut(): boolean {
  return tabStore.getItem(SIGNED_OUT_BEFORE) !== lastSignOut();
}

/** Ends the tab's session. What the browser remembers stays, for whoever comes back with the same key. */
export function endSession(): void {
  for (const name of [KEY, OWNER, SIGNED_OUT_BEFORE]) tabStore.removeItem(name);
}

/** Ends the sessions of all tabs, and deletes what the browser remembers. */
export function signOut(): void {
  endSession();
  eraseHistory();
  // Tabs that are asleep or closed see it when they come back.
  browserStore.setItem(LAST_SIGN_OUT, new Date().toISOString());
}

function open(apiKey: string, owner: string): Session {
  return {
    client: new LipSync({ apiKey, baseUrl: location.origin, fetch: watchedFetch }),
    history: new History(owner),
  };
}

/**
 * Names whom the work of a key belongs to, since the service names no customer. It does not lead back to the key, which
 * is 256 random bits.
 */
async function ownerOf(apiKey: string): Promise<string> {
  // Without TLS a browser computes no digest: another session then cannot find the work of this one.
  const bytes = isSecureContext
    ? await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`lipsync-studio ${apiKey}`))
    : crypto.getRandomValues(new Uint8Array(32)).buffer;
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
