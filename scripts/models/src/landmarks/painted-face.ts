import { constantClock } from '@lipsync/domain';
import { FACE_TRACK_VERSION, type FaceTrack, LANDMARK_VALUES } from '@lipsync/engines';

/*
 * Where the sample face (samples/face.mp4) was painted. Head coordinates: the origin lies between the eyes, x to the
 * viewer's right, y down; one unit is the distance of the eye centers. The figures are those of the program that
 * painted it, in this repository's history (scripts/samples).
 */

const SIDE = 640;
const UNIT = 0.15 * SIDE;
const EYES_Y = 0.4 * SIDE;
/** The head rolls about this height. */
const NECK = 1.8;
const FRAMES = 150;
const FPS = 25;
/** Frames in which the mouth is shut, and the chin where it rests. */
const SHUT = (frame: number): boolean => frame < 35 || frame >= 128;

/** A point of the head, and how far it is in front of the axis that the head turns about. */
type HeadPoint = readonly [x: number, y: number, depth: number];

const mirrored = ([x, y, depth]: HeadPoint): HeadPoint => [-x, y, depth];

/** From the outside to the nose, along the middle of the brow. */
const RIGHT_BROW: readonly HeadPoint[] = [
  [0.2, -0.27, 0.58],
  [0.355, -0.347, 0.55],
  [0.51, -0.378, 0.48],
  [0.665, -0.369, 0.38],
  [0.82, -0.327, 0.21],
];
/** Root, bridge and tip, and below it from left to right. */
const NOSE: readonly HeadPoint[] = [
  [0, 0, 0.65],
  [0, 0.18, 0.7],
  [0, 0.36, 0.75],
  [0, 0.54, 0.91],
  ...([-0.165, -0.08, 0, 0.08, 0.165] as const).map((x): HeadPoint => [x, 0.68 - Math.abs(x) * 0.12, 0.68]),
];
const EYE: HeadPoint = [0.5, 0, 0.46];
const MOUTH: HeadPoint = [0, 1.08, 0.54];

/** The outline from ear to ear, at equal angles about a point between the eyes. */
const JAW: readonly HeadPoint[] = Array.from({ length: 17 }, (_, i) => {
  const angle = Math.PI * (1 - i / 16);
  const [right, down] = [Math.cos(angle), Math.sin(angle)];
  const radius = (Math.abs(right) ** 2.2 + Math.abs(down / (1.84 - 0.05)) ** 2.5) ** (-1 / 2.3);
  return i === 8 ? [0, 1.84, -0.34] : [right * radius, 0.05 + down * radius, -0.35];
});

/** In the order of iBUG. Eyes and mouth are single points: nothing is cut out by them. */
const HEAD: readonly HeadPoint[] = [
  ...JAW,
  ...[...RIGHT_BROW].reverse().map(mirrored),
  ...RIGHT_BROW,
  ...NOSE,
  ...Array.from({ length: 6 }, () => mirrored(EYE)),
  ...Array.from({ length: 6 }, () => EYE),
  ...Array.from({ length: 20 }, () => MOUTH),
];

/** The truth about the sample face, as a track; without a face where its mouth moves. */
export function paintedTrack(): FaceTrack {
  const found = Uint8Array.from({ length: FRAMES }, (_, frame) => Number(SHUT(frame)));
  const landmarks = new Float32Array(FRAMES * LANDMARK_VALUES);
  for (let frame = 0; frame < FRAMES; frame++) {
    const points = HEAD.flatMap((point) => inPicture(point, frame / FPS));
    if (SHUT(frame)) landmarks.set(points, frame * LANDMARK_VALUES);
  }
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion: 'painted',
    frames: FRAMES,
    clock: constantClock({ num: FPS, den: 1 }, FRAMES),
    width: SIDE,
    height: SIDE,
    found,
    landmarks,
    cuts: new Uint8Array(FRAMES),
    looks: new Uint8Array(FRAMES),
    seen: new Uint8Array(FRAMES).fill(1),
    held: new Uint8Array(FRAMES),
    shown: new Uint8Array(FRAMES).fill(255),
    covers: new Map(),
  };
}

function inPicture([headX, headY, depth]: HeadPoint, seconds: number): [number, number] {
  const wave = (period: number, phase: number): number => Math.sin((2 * Math.PI * seconds) / period + phase);
  const roll = 0.035 * wave(6.2, 0.9) + 0.01 * wave(2.7, 2.2);
  const x = headX + 0.05 * wave(4.6, 1.7) * depth;
  const y = headY + 0.03 * wave(3.4, 0.1) * depth - NECK;
  const right = Math.cos(roll) * x - Math.sin(roll) * y + 0.05 * wave(5.3, 0.4) + 0.015 * wave(2.1, 1);
  const down = Math.sin(roll) * x + Math.cos(roll) * y + NECK + 0.03 * wave(4.1, 2) + 0.012 * wave(1.7, 0.3);
  return [SIDE / 2 + UNIT * right, EYES_Y + UNIT * down];
}
