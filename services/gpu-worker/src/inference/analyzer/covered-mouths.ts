import { type Clock, middleOf, secondsAt } from '@lipsync/domain';
import { connectedRuns, type Run } from '@lipsync/engines';

/**
 * For how many seconds the generated mouth fades to the filmed one before something covers it, the face is lost or
 * another one has the turn, and back afterwards.
 */
const FADE_SECONDS = 0.12;

/** A mouth that is seen for less than this between two covers stays as filmed: it would only flash. */
export const SHORTEST_FREE = 0.3;

/**
 * What becomes of frames whose mouth is not seen, and of those around them.
 *
 * @param unseen per frame, whether something covers the mouth, or its face is not found
 * @param cuts per frame, 1 where a shot begins; nothing fades across it
 * @param turns per frame, whether another face of the same shot has the turn from here on; both fade
 */
export function hideCovered(
  unseen: readonly boolean[],
  cuts: Uint8Array,
  turns: readonly boolean[],
  clock: Clock,
): {
  /** Per frame, whether the mouth stays as filmed. */
  readonly hidden: readonly boolean[];
  /** See `FaceTrack`. */
  readonly shown: Uint8Array;
} {
  const hidden = [...unseen];
  const shown = new Uint8Array(unseen.length).fill(255);
  const shots = connectedRuns(
    unseen.length,
    () => true,
    (frame) => cuts[frame] !== 1,
  );
  for (const shot of shots) {
    const covers = coversOf(unseen, shot, clock);
    for (const { start, end } of covers) hidden.fill(true, start, end);
    for (const end of [shot.start, shot.end]) if (turns[end] === true) covers.push({ start: end, end });
    for (const cover of covers) fade(shown, shot, cover, clock);
  }
  return { hidden, shown };
}

/** The runs of such frames in a shot, with what is seen between two of them for a moment only. */
function coversOf(unseen: readonly boolean[], shot: Run, clock: Clock): Run[] {
  const joined: Run[] = [];
  for (let frame = shot.start; frame < shot.end; frame++) {
    if (unseen[frame] !== true) continue;
    const last = joined.at(-1);
    const continues = last && secondsAt(clock, frame) - secondsAt(clock, last.end) < SHORTEST_FREE;
    if (continues) joined.pop();
    joined.push({ start: continues ? last.start : frame, end: frame + 1 });
  }
  return joined;
}

/** Lowers what is shown in a cover to 0, and around it by the seconds from the middle of a frame to the cover. */
function fade(shown: Uint8Array, shot: Run, cover: Run, clock: Clock): void {
  const from = secondsAt(clock, cover.start);
  const to = secondsAt(clock, cover.end);
  for (let frame = shot.start; frame < shot.end; frame++) {
    const middle = middleOf(clock, frame);
    const away = Math.max(from - middle, middle - to, 0);
    const part = Math.floor((255 * away) / FADE_SECONDS);
    shown[frame] = Math.min(shown[frame] ?? 255, part);
  }
}
