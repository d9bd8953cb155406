import { landmarkBounds } from './face-patch';
import { LONGEST_GAP } from './fill-gaps';

/**
 * The most that a face moves or grows from one frame to the next, as a fraction of its own size: four times what heads
 * do in talks. An editor's zoom by a seventh exceeds this.
 */
const LONGEST_STEP = 0.2;
const LARGEST_GROWTH = 0.12;
/** How many pixels apart landmarks may lie when nothing has moved. */
const UNCERTAINTY = 2;

/**
 * Marks as cuts, in place, the frames on which a face jumps. A jump occurs where an editor removed part of a shot or
 * zoomed in, which looks too similar for a cut detector, or where somebody else's face is followed from then on.
 * Nothing may be interpolated or smoothed across a jump: the mouths between would lie beside both faces.
 */
export function markJumps(faces: readonly (Float32Array | null)[], cuts: boolean[]): void {
  let last = -1;
  faces.forEach((face, frame) => {
    if (cuts[frame] === true) last = -1;
    if (face === null) return;
    const before = last < 0 ? null : faces[last];
    const frames = frame - last;
    // Nothing is connected across a longer gap anyway.
    if (before && frames <= LONGEST_GAP + 1 && isJump(place(before), place(face), frames)) cuts[frame] = true;
    last = frame;
  });
}

interface Place {
  readonly x: number;
  readonly y: number;
  /** Diagonal of the bounds. A turn or an opening mouth changes it less than it changes the sides. */
  readonly size: number;
}

function isJump(from: Place, to: Place, frames: number): boolean {
  const size = Math.max(from.size, to.size);
  const uncertain = UNCERTAINTY / size;
  const step = Math.hypot(to.x - from.x, to.y - from.y) / size;
  const growth = Math.abs(Math.log(to.size / from.size));
  return step > LONGEST_STEP * frames + uncertain || growth > LARGEST_GROWTH * frames + uncertain;
}

function place(face: Float32Array): Place {
  const { x1, y1, x2, y2 } = landmarkBounds(face);
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, size: Math.hypot(x2 - x1, y2 - y1) };
}
