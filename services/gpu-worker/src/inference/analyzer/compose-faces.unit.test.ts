import { constantClock } from '@lipsync/domain';
import { syntheticTrack } from '@lipsync/engines/test';
import { composeFaces } from './compose-faces';
import { type FaceStream } from './face-stream';

const SIZE = { width: 640, height: 360 };
const SECONDS = 12;
const FRAMES = SECONDS * 25;
const ALL = Array.from({ length: FRAMES }, (_, frame) => frame);
const FRAMES_OF_CLIP = {
  clock: constantClock({ num: 25, den: 1 }, FRAMES),
  held: ALL.map(() => false),
  cuts: ALL.map((frame) => frame === 0),
};

/** A face that is seen from one second to another, and moves its lips from one to another. */
function stream(seen: readonly [number, number], lips: readonly [number, number]): FaceStream {
  const { landmarks } = syntheticTrack({ frames: 1, ...SIZE, box: { x1: 60, y1: 110, x2: 190, y2: 260 } });
  const within = (frame: number, [from, to]: readonly [number, number]): boolean =>
    frame >= from * 25 && frame < to * 25;
  const faces = ALL.map((frame) => {
    if (!within(frame, seen)) return null;
    const points = landmarks.slice();
    // The middle of the lower lip goes down by a few pixels.
    const down = within(frame, lips) ? 6 + 6 * Math.sin(frame) : 0;
    for (const y of [2 * 57 + 1, 2 * 66 + 1]) points[y] = (points[y] ?? NaN) + down;
    return points;
  });
  const start = seen[0] * 25;
  const rest = faces.slice(start);
  const nothing = { colors: rest.map(() => null), covers: rest.map(() => null) };
  const never = { cuts: rest.map(() => false), covered: rest.map(() => false) };
  const rows = { start, faces: rest, ...nothing, ...never };
  return { start, see: () => Promise.resolve(), end: () => undefined, rows: () => rows };
}

test('two faces of a shot are those of two people for certain if they were there at one time', () => {
  const anna = stream([0, 4], [0, 4]);
  const bert = stream([0, 12], [4, 8]);
  const annaAgain = stream([8, 12], [8, 12]);
  const { areApart, faces } = composeFaces([anna, bert, annaAgain], FRAMES_OF_CLIP, null);

  expect(faces).not.toContain(null);
  const at = [50, 150, 250];
  expect(at.map((frame) => at.map((other) => areApart(frame, other)))).toEqual([
    [false, true, false],
    [true, false, true],
    [false, true, false],
  ]);
});
