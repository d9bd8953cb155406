/**
 * Runs `change` for one candidate after the other. One that throws is reported and does not keep the others from their
 * turn. Returns how many changed something.
 */
export async function eachCandidate<T>(
  candidates: readonly T[],
  change: (candidate: T) => Promise<boolean>,
  errors: unknown[],
): Promise<number> {
  let changed = 0;
  for (const candidate of candidates) {
    try {
      if (await change(candidate)) changed += 1;
    } catch (error) {
      errors.push(error);
    }
  }
  return changed;
}
