/** Consecutive frames that belong together: `start` inclusive, `end` exclusive. */
export interface Run {
  readonly start: number;
  readonly end: number;
}

/**
 * The runs of those of `count` frames that are present. A frame that does not continue the previous one begins a new
 * run.
 */
export function connectedRuns(
  count: number,
  present: (frame: number) => boolean,
  continues: (frame: number) => boolean,
): Run[] {
  const runs: Run[] = [];
  let start: number | undefined;
  for (let frame = 0; frame <= count; frame++) {
    const here = frame < count && present(frame);
    if (start !== undefined && here && continues(frame)) continue;
    if (start !== undefined) runs.push({ start, end: frame });
    start = here ? frame : undefined;
  }
  return runs;
}

/**
 * Cuts runs into the fewest pieces of at most `longest` frames, of nearly equal length, so that no short rest is left.
 */
export function cutRuns(runs: readonly Run[], longest: number): Run[] {
  return runs.flatMap(({ start, end }) => {
    const pieces = Math.ceil((end - start) / longest);
    const border = (piece: number): number => start + Math.floor((piece * (end - start)) / pieces);
    return Array.from({ length: pieces }, (_, piece) => ({ start: border(piece), end: border(piece + 1) }));
  });
}
