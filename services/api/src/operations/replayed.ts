/** The header that marks a response as a replay of an earlier request with the same idempotency key. */
export function replayed(isReplay: boolean): Readonly<Record<string, string>> {
  return isReplay ? { 'Idempotent-Replayed': 'true' } : {};
}
