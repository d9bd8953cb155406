const STORAGE_KEY = 'lipsync-studio.api-key';

/** The key lives as long as the tab: what another page or a later user could read keeps no key. */
export function storedKey(): string | null {
  return sessionStorage.getItem(STORAGE_KEY);
}

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, key);
}

/** What is wrong with the form of a key; null if it could be one. */
export function keyProblem(key: string): string | null {
  if (/^svc_[0-9a-f]{64}$/i.test(key)) return null;
  if (key === '') return 'Paste your API key.';
  return 'A key begins with svc_, and 64 digits and letters from a to f follow.';
}
