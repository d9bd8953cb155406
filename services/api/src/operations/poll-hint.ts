import { POLL_HINT_SECONDS } from '@lipsync/domain';

/** Retry-After for a resource that is still changing. */
export function pollHint(isUnfinished: boolean): Readonly<Record<string, string>> {
  return isUnfinished ? { 'Retry-After': String(POLL_HINT_SECONDS) } : {};
}
