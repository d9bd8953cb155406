/** Says that an idempotency key named an earlier request. */
export function replayed(isReplay: boolean): Readonly<Record<string, string>> {
  return isReplay ? { 'Idempotent-Replayed': 'true' } : {};
}
