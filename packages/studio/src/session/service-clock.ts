/** What a browser's clock may be off by without being wrong: answers tell whole seconds, and take a while to arrive. */
const NEGLIGIBLE_MS = 3000;

let aheadMs = 0;

/** The service's time now, in milliseconds since 1970: what its records say is compared with this. */
export const serviceNow = (): number => Date.now() + aheadMs;

/** Learns from an answer's `Date` header how far the service's clock is ahead of this computer's. */
export function noteServiceTime(date: string | null): void {
  aheadMs = aheadOf(date, Date.now(), aheadMs);
}

/** Milliseconds by which the service is ahead: what was known, unless `date`, read at `nowMs`, contradicts it. */
export function aheadOf(date: string | null, nowMs: number, knownMs: number): number {
  const measured = Date.parse(date ?? '') - nowMs;
  return Math.abs(measured - knownMs) > NEGLIGIBLE_MS ? measured : knownMs;
}
