/** Longest gap, in frames, that is filled. A face hidden for longer (by a hand or a turned head) is not guessed. */
export const LONGEST_GAP = 5;

/**
 * Interpolates the landmarks of short gaps between two sightings in one shot, in place: a single missed frame would
 * show the original mouth for a twenty-fifth of a second.
 */
export function fillGaps(faces: (Float32Array | null)[], cuts: readonly boolean[]): void {
  let last = -1;
  for (let frame = 0; frame < faces.length; frame++) {
    if (cuts[frame] === true) last = -1;
    const after = faces[frame];
    if (after === null || after === undefined) continue;
    const before = last >= 0 ? faces[last] : null;
    if (before && frame - last - 1 <= LONGEST_GAP) {
      for (let missing = last + 1; missing < frame; missing++) {
        faces[missing] = between(before, after, (missing - last) / (frame - last));
      }
    }
    last = frame;
  }
}

function between(before: Float32Array, after: Float32Array, part: number): Float32Array {
  return before.map((value, i) => value + part * ((after[i] ?? value) - value));
}
