import { type Clock } from '@lipsync/domain';
import { type RgbPicture } from '@lipsync/kernels';
import { type FaceTrack } from './face-track';
import { landmark } from './landmarks';
import { connectedRuns, type Run } from './smoothing';

/*
 * A clip may show several people, or one in several lights. What tells looks apart is the color of lips and skin. Shots
 * of one look are grouped, because the pictures of one mouth serve for all of them.
 */

/** L*, a* and b* (CIE 15, D65) of the lips, then of the skin around them. */
export type LookColors = readonly number[];
const VALUES = 6;

/** Pairs of landmarks. Midway between them is the red of the lips, however open the mouth, and the skin of the face. */
const LIPS = [
  [50, 61],
  [51, 62],
  [52, 63],
  [58, 67],
  [57, 66],
  [56, 65],
] as const;
const SKIN = [
  [31, 3],
  [35, 13],
  [48, 4],
  [54, 12],
  [57, 8],
] as const;

/** The colors of a face with these 136 landmark values, in pixels of the picture. */
export function lookColors(picture: RgbPicture, landmarks: Float32Array): LookColors {
  return [LIPS, SKIN].flatMap((pairs) => labOf(meanColor(picture, landmarks, pairs)));
}

/** Mean of the 3×3 pixels midway between the landmarks of each pair. */
function meanColor(
  { width, height, data }: RgbPicture,
  landmarks: Float32Array,
  pairs: readonly (readonly [number, number])[],
): Rgb {
  const sum: [number, number, number] = [0, 0, 0];
  const inside = (at: number, size: number): number => Math.min(size - 1, Math.max(0, Math.round(at)));
  for (const [one, other] of pairs) {
    const [a, b] = [landmark(landmarks, one), landmark(landmarks, other)];
    for (let i = 0; i < 9; i++) {
      const x = inside((a.x + b.x) / 2 + (i % 3) - 1, width);
      const y = inside((a.y + b.y) / 2 + Math.floor(i / 3) - 1, height);
      for (const color of [0, 1, 2] as const) sum[color] += data[(y * width + x) * 3 + color] ?? 0;
    }
  }
  const [red, green, blue] = sum;
  const count = 9 * pairs.length;
  return [red / count, green / count, blue / count];
}

type Rgb = readonly [red: number, green: number, blue: number];

/** sRGB in [0, 255] → L*, a*, b*. */
function labOf(color: Rgb): number[] {
  const [red, green, blue] = color.map((level) => {
    const value = level / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number]; // as many as colors
  const root = (value: number): number => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
  const y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue);
  const z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** Most looks of a clip: a host, two guests and another light. Each takes eight pictures. */
const MOST_LOOKS = 4;

/** A mouth is worth pictures of its own if it is seen for so many seconds; then it has been open and closed. */
const SHORTEST_LOOK = 1;

/**
 * Shots whose colors differ by less show one look. In real talks two stretches of two seconds differ by 3 in the median
 * and nine in ten by less than 10; those of two people differ by 20 in the median, and one in ten by less than 10.
 */
const SAME_LOOK = 10;

/** Lightness counts half, because the drawn mouth is lit as the skin around it is. */
const LIGHTNESS = 0.5;

/**
 * Groups the shots of a clip by their colors, the longest first: each joins the most similar group so far, or begins one
 * (the leader algorithm of Hartigan, Clustering Algorithms, 1975). The groups seen longest are the looks, and every
 * shot wears the most similar look; without a face there is only look 0. `colors` holds those of a frame's face, or null
 * where none was seen. Two people of one shot never share a look, however alike they are: `areApart` says of two frames
 * whether they show two people for certain.
 */
export function groupLooks(
  { frames, clock, cuts }: Pick<FaceTrack, 'frames' | 'clock' | 'cuts'>,
  colors: readonly (LookColors | null)[],
  areApart: (frame: number, other: number) => boolean = () => false,
): Pick<FaceTrack, 'looks' | 'seen'> {
  const shots = connectedRuns(
    frames,
    () => true,
    (frame) => cuts[frame] !== 1,
  ).map((shot) => coloredShot(shot, colors, clock));
  const groups: Look[] = [];
  for (const { start, seconds, color } of shots.toSorted((a, b) => b.seconds - a.seconds)) {
    if (seconds === 0) break;
    const { number, difference } = nearest(groups, color, start, areApart);
    const group = groups[number];
    if (group && difference <= SAME_LOOK) {
      group.seconds += seconds;
      group.shots.push(start);
    } else groups.push({ color, seconds, shots: [start] });
  }
  const kept = groups
    .sort((a, b) => b.seconds - a.seconds)
    .filter(({ seconds }, number) => number === 0 || seconds >= SHORTEST_LOOK)
    .slice(0, MOST_LOOKS);

  const looks = new Uint8Array(frames);
  const seen = new Uint8Array(frames);
  for (const { start, end, seconds, color } of shots) {
    // A shot without a face has the look of the frame before, so that nothing is separated by it.
    const { number, difference } =
      seconds === 0
        ? { number: looks[start - 1] ?? 0, difference: Infinity }
        : nearest(kept, color, start, areApart);
    // Whoever is apart from all looks wears none of them: the next number has no pictures.
    looks.fill(number < 0 ? kept.length : number, start, end);
    if (difference > SAME_LOOK) continue;
    for (let frame = start; frame < end; frame++) seen[frame] = colors[frame] ? 1 : 0;
  }
  return { looks, seen };
}

/** For how long these frames are on screen. */
export function secondsShown({ timescale, ticks }: Clock, frames: readonly number[]): number {
  return (
    frames.reduce((sum, frame) => sum + (ticks[frame + 1] ?? NaN) - (ticks[frame] ?? NaN), 0) / timescale
  );
}

/** A shot, for how long a face was seen in it, and the median of its colors. */
function coloredShot({ start, end }: Run, colors: readonly (LookColors | null)[], clock: Clock) {
  const rows = colors.slice(start, end).filter((row) => row !== null);
  const middle = Math.floor(rows.length / 2);
  const color = Array.from(
    { length: VALUES },
    (_, value) => rows.map((row) => row[value] ?? NaN).sort((a, b) => a - b)[middle] ?? NaN,
  );
  const shown = Array.from({ length: end - start }, (_, i) => start + i).filter((frame) => colors[frame]);
  return { start, end, seconds: secondsShown(clock, shown), color };
}

/** Shots that look alike. */
interface Look {
  readonly color: LookColors;
  seconds: number;
  /** The first frames of the shots. */
  readonly shots: number[];
}

/**
 * Which of the looks has the most similar color, and how much it differs, leaving out those of people who are apart from
 * the one at `frame`; −1 if none is left.
 */
function nearest(
  looks: readonly Look[],
  color: LookColors,
  frame: number,
  areApart: (frame: number, other: number) => boolean,
) {
  let [number, difference] = [-1, Infinity];
  for (const [i, look] of looks.entries()) {
    const here = differenceOf(look.color, color);
    if (here < difference && !look.shots.some((other) => areApart(frame, other)))
      [number, difference] = [i, here];
  }
  return { number, difference };
}

function differenceOf(a: LookColors, b: LookColors): number {
  return Math.hypot(...a.map((value, i) => (value - (b[i] ?? NaN)) * (i % 3 === 0 ? LIGHTNESS : 1)));
}
