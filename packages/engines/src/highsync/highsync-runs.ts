import { connectedRuns, type Run } from '../face/connected-runs';
import { type HighsyncFaces } from './highsync-faces';
import { jumps } from './highsync-jump';

/**
 * The runs of output frames that HighSync renders as one motion each. Frames outside every run show no face. `sources`
 * is the source frame of every output frame. A run ends where the face is lost, the shot changes or the face jumps,
 * even if the timeline causes that. A restart, a skip or a reversal that lands close by continues the run.
 */
export function highsyncRuns(
  sources: readonly number[],
  { shots, boxes }: Pick<HighsyncFaces, 'shots' | 'boxes'>,
  picture: { readonly width: number; readonly height: number },
): Run[] {
  const sourceOf = (output: number): number => sources[output] ?? -1;
  const shotOf = (output: number): number => shots[sourceOf(output)] ?? -1;
  return connectedRuns(
    sources.length,
    (output) => shotOf(output) >= 0,
    (output) =>
      shotOf(output) === shotOf(output - 1) && !jumps(boxes, sourceOf(output - 1), sourceOf(output), picture),
  );
}
