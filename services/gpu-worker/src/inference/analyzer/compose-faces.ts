import { connectedRuns } from '@lipsync/engines';
import { type AnalyzedFrames, type TrackFaces } from './build-track';
import { type FaceRows, type FaceStream } from './face-stream';

/**
 * Puts the chosen face of every frame into one track, whose rows are those of the faces' streams. Where another face is
 * chosen, the track is cut, so that nothing connects the two. `chosen` holds the numbers of the faces.
 */
export function composeFaces(
  chosen: readonly number[],
  streams: ReadonlyMap<number, FaceStream>,
  { cuts: shotCuts, ...frames }: AnalyzedFrames,
): TrackFaces {
  const faces: (Float32Array | null)[] = chosen.map(() => null);
  const colors: TrackFaces['colors'][number][] = chosen.map(() => null);
  const cuts = [...shotCuts];
  const shots = chosen.map(() => 0);
  for (const { start, end } of connectedRuns(
    chosen.length,
    () => true,
    (frame) => shotCuts[frame] !== true,
  )) {
    shots.fill(start, start, end);
    const rows = new Map<number, FaceRows>();
    for (let frame = start; frame < end; frame++) {
      const number = chosen[frame] ?? NaN;
      const stream = streams.get(number);
      if (stream === undefined) continue;
      const face = rows.get(number) ?? stream.rows(end, frames);
      rows.set(number, face);
      faces[frame] = face.faces[frame - face.start] ?? null;
      colors[frame] = face.colors[frame - face.start] ?? null;
      const isOther = frame > start && chosen[frame - 1] !== number;
      if (isOther || face.cuts[frame - face.start] === true) cuts[frame] = true;
    }
  }
  return {
    faces,
    colors,
    cuts,
    // Nothing looks for covers yet.
    covers: new Map(),
    covered: chosen.map(() => false),
    areApart: (frame, other) => shots[frame] === shots[other] && chosen[frame] !== chosen[other],
  };
}
