/** A stretch of the output whose source indices only rise (repeats and skips included) or only fall. */
export interface FrameRun {
  readonly direction: 'forward' | 'backward';
  /** Positions in the sequence, both inclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a sequence of source indices into runs. A step down followed by a step up begins a new forward run (a loop
 * restarts); a step down followed by another step down begins a backward run (a bounce returns).
 */
export function frameRuns(indices: readonly number[]): FrameRun[] {
  const runs: FrameRun[] = [];
  let from = 0;
  while (from < indices.length) {
    const direction = directionFrom(indices, from);
    let to = from;
    while (to + 1 < indices.length && continues(direction, at(indices, to), at(indices, to + 1))) to += 1;
    runs.push({ direction, from, to });
    from = to + 1;
  }
  return runs;
}

function directionFrom(indices: readonly number[], from: number): FrameRun['direction'] {
  const first = at(indices, from);
  for (let next = from + 1; next < indices.length; next += 1) {
    if (at(indices, next) !== first) return at(indices, next) < first ? 'backward' : 'forward';
  }
  return 'forward';
}

function continues(direction: FrameRun['direction'], current: number, next: number): boolean {
  return direction === 'forward' ? next >= current : next <= current;
}

function at(indices: readonly number[], position: number): number {
  const index = indices[position];
  if (index === undefined) throw new RangeError(`no index at ${position}`);
  return index;
}
