/**
 * Once a candidate has failed, none is begun after this. Otherwise a database that hangs would block one candidate
 * after the other.
 */
const CANDIDATES_MS = 20_000;

/**
 * Runs `change` for one candidate after the other, the first in any case and none after `endAtMs` of the process's
 * clock. If one throws, the error is reported and the others still get their turn, as long as there is time. Returns
 * how many changed something.
 */
export async function eachCandidate<T>(
  candidates: readonly T[],
  change: (candidate: T) => Promise<boolean>,
  errors: unknown[],
  endAtMs = Infinity,
): Promise<number> {
  const endIfFailingMs = performance.now() + CANDIDATES_MS;
  let changed = 0;
  for (const [i, candidate] of candidates.entries()) {
    const nowMs = performance.now();
    if ((i > 0 && nowMs > endAtMs) || (errors.length > 0 && nowMs > endIfFailingMs)) break;
    try {
      if (await change(candidate)) changed += 1;
    } catch (error) {
      errors.push(error);
    }
  }
  return changed;
}
