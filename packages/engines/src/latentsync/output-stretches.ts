import { connectedRuns } from '../face/connected-runs';
import { type FaceTrack } from '../face/face-track';
import { faceRuns } from '../face/smoothing';

/**
 * Numbers, per output frame, the stretches whose faces may be generated together; −1 means no face. A stretch ends
 * where the face is lost, at a cut, and where the timeline restarts; it continues through a reversal.
 */
export function outputStretches(
  sources: readonly number[],
  { frames, cuts }: Pick<FaceTrack, 'frames' | 'cuts'>,
  hasFace: (source: number) => boolean,
): Int32Array {
  const present = Uint8Array.from({ length: frames }, (_, source) => (hasFace(source) ? 1 : 0));
  const shots = new Int32Array(frames).fill(-1);
  faceRuns(present, cuts).forEach(({ start, end }, shot) => shots.fill(shot, start, end));

  const sourceOf = (output: number): number => sources[output] ?? -1;
  const shotOf = (output: number): number => shots[sourceOf(output)] ?? -1;
  const stretches = new Int32Array(sources.length).fill(-1);
  connectedRuns(
    sources.length,
    (output) => shotOf(output) >= 0,
    (output) => shotOf(output) === shotOf(output - 1) && sourceOf(output) >= sourceOf(output - 1) - 1,
  ).forEach(({ start, end }, stretch) => stretches.fill(stretch, start, end));
  return stretches;
}
