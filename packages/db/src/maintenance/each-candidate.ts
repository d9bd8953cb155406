/**
 * Runs `change` for one candidate after the other, the first in any case and none after `endAtMs` of the process's
 * clock. If one throws, the error is reported and the others still get their turn. Returns how many changed something.
 */
export async function eachCandidate<T>(
  candidates: readonly T[],
  change: (candidate: T) => Promise<boolean>,
  errors: unknown[],
  endAtMs: number,
): Promise<number> {
  let changed = 0;
  for (const [i, candidate] of candidates.entries()) {
    if (i > 0 && performance.now() > endAtMs) break;
    try {
      if (await change(candidate)) changed += 1;
    } catch (error) {
      errors.push(error);
    }
  }
  return changed;
}
