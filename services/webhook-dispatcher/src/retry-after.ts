/**
 * The number of seconds that a Retry-After header asks to wait (RFC 9110: a number of seconds, or a date); undefined
 * when it is not valid. Never negative.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  // Only HTTP's date format: Date.parse alone would read almost anything as a date.
  if (!/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)) return undefined;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - nowMs) / 1000);
}
