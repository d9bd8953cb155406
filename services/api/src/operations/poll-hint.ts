import { POLL_HINT_SECONDS } from '@lipsync/domain';

/** Retry-After for a resource that will change by itself. */
export function pollHint(isUnfinished: boolean): Readonly<Record<string, string>> {
  return isUnfinished ? { 'Retry-After': String(POLL_HINT_SECONDS) } : {};
}
