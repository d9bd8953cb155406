import { float32Of, HAND_PATCH_SIDE, PALM_PICTURE_SIDE, type RunModel } from '@lipsync/engines';
import { createPatchSampler, type Patch, patchPoint, type Point, type RgbPicture } from '@lipsync/kernels';
import { alignedPatch } from './aligned-face';

/**
 * A hand's 21 joints in pixels of the picture: wrist, then from root to tip thumb, index, middle, ring and little finger.
 */
export type Hand = readonly Point[];

/** Palms are looked for this often. A hand that is near the face is followed at every look, and looked for when lost. */
const SEARCH_EVERY = 0.25;

/** Sides of the squares in which palms are looked for and hands are followed, in sides of the face's own. */
const SEARCHED = 1.7;
const FOLLOWED = 1.3;

/** Below this confidence there is no palm. It only saves time: a closer look decides. */
const PALM_SCORE = 0.4;

/** How sure a closer look is of a hand that was not seen before, and of one that was. Necks and hair reach 0.6. */
const PRESENCE = { found: 0.7, followed: 0.5 };

/**
 * A palm may be seen late: a hand comes with its fingers first, and a fast one is before the mouth within two looks. One
 * that is found is followed back into the pictures of so many seconds.
 */
const FOLLOWED_BACK = 0.4;

/**
 * Fingers at a chin may have their palm below the picture, where it is not found. Such ones are looked for in a square
 * below the face: its side, and how far its middle is below the face's, in sides of the face's own.
 */
const FINGERS_BELOW = { side: 0.75, down: 0.5 };

/** Most hands that are looked at in a picture, for each face in it. */
const MOST_HANDS = 3;

/** The hands that were found for one face are those of another one that is looked at so many seconds later. */
const SHARED_FOR = 0.05;

/** A face that was not looked at for so many seconds is gone. */
const GONE_AFTER = 0.5;

/** Faces share a search if its square has at most so many times the side that each one's own would have. */
const WIDEST = 3;

/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/**
 * Finds the hands near one face, which has these 68 landmarks in the picture. Looks come in order. A hand that is found
 * within FOLLOWED_BACK after a look joins the hands of that look if it was there.
 */
export type HandFinder = (
  picture: RgbPicture,
  seconds: number,
  face: Float32Array,
) => Promise<readonly Hand[]>;

/**
 * Makes a finder for each face of a shot. Searches are for all of its faces at once: they take longer than anything else
 * that is done for a face.
 */
export function createHandFinders(run: RunModel): () => HandFinder {
  const samplePatch = createPatchSampler();
  const faces: { square: Patch; seconds: number }[] = [];
  let found: Hand[] = [];
  let followed: Hand[] = [];
  const earlier: EarlierLook[] = [];
  let foundAt = -Infinity;
  let nextSearch = -Infinity;
  let searches = 0;

  async function look(
    role: 'palm_detector' | 'hand_landmarks',
    picture: RgbPicture,
    patch: Patch,
    side: number,
  ) {
    const data = new Uint8Array(side ** 2 * 3);
    samplePatch(picture, patch, { width: side, height: side, data });
    const { outputs } = await run(role, { image: { type: 'uint8', dims: [1, side, side, 3], data } });
    return outputs;
  }

  async function handIn(picture: RgbPicture, patch: Patch, least: number): Promise<Hand | null> {
    const outputs = await look('hand_landmarks', picture, patch, HAND_PATCH_SIDE);
    if ((float32Of(outputs, 'presence')[0] ?? 0) < least) return null;
    return pointsIn(float32Of(outputs, 'points'), patch);
  }

  /** The patches of hands whose palms are seen, the clearest first. */
  async function search(picture: RgbPicture, patch: Patch): Promise<Patch[]> {
    const outputs = await look('palm_detector', picture, patch, PALM_PICTURE_SIDE);
    const palms = float32Of(outputs, 'palms');
    const numbers = PALM_PAIRS * 2;
    const clear = Array.from(float32Of(outputs, 'scores'), (score, i) => ({ score, i }))
      .filter(({ score }) => score >= PALM_SCORE)
      .sort((a, b) => b.score - a.score);
    return clear.map(({ i }) => patchOfPalm(palms.subarray(i * numbers, (i + 1) * numbers), patch));
  }

  async function findAll(picture: RgbPicture, seconds: number, squares: readonly Patch[]): Promise<Hand[]> {
    const hands: Hand[] = [];
    const take = async (patch: Patch, least: number): Promise<Hand | null> => {
      if (hands.length >= MOST_HANDS * squares.length || hands.some((hand) => isAt(hand, patch))) return null;
      const hand = await handIn(picture, patch, least);
      if (hand) hands.push(hand);
      return hand;
    };
    const areNear = (hand: Hand): boolean => squares.some((square) => isNear(hand, square));
    for (const hand of followed) await take(patchOfHand(hand), PRESENCE.followed);
    if (hands.length < followed.length || seconds >= nextSearch - ROUNDING) {
      nextSearch = seconds + SEARCH_EVERY;
      const searched = squares.map((square) => ({ ...square, side: SEARCHED * square.side }));
      const where = squareAround(searched, picture) ?? searched[searches++ % searched.length];
      for (const patch of where ? await search(picture, where) : []) {
        if (!searched.some((square) => isBeside(patch, square))) continue;
        const hand = await take(patch, PRESENCE.found);
        if (hand && areNear(hand)) await followBack(hand, seconds, areNear);
      }
      for (const square of squares) {
        const patch = fingersBelow(square);
        if (!isCutOff(patch, picture) || hands.some((hand) => isNear(hand, square))) continue;
        const hand = await take(patch, PRESENCE.found);
        if (hand && areNear(hand)) await followBack(hand, seconds, areNear);
      }
    }
    followed = hands.filter(areNear);
    keep(picture, seconds, hands);
    return hands;
  }

  /** Follows a hand into the pictures before the one in which it was found. */
  async function followBack(found: Hand, seconds: number, areNear: (hand: Hand) => boolean): Promise<void> {
    let hand: Hand | null = found;
    for (const look of earlier.toReversed()) {
      const patch = patchOfHand(hand);
      if (isPast(look, seconds) || look.hands.some((other) => isAt(other, patch))) return;
      hand = await handIn(look.picture, patch, PRESENCE.followed);
      if (hand === null || !areNear(hand)) return;
      look.hands.push(hand);
    }
  }

  /** Copies a picture into the memory of one that is not needed any more. */
  function keep(picture: RgbPicture, seconds: number, hands: Hand[]): void {
    const [oldest] = earlier;
    const past = oldest && isPast(oldest, seconds) ? earlier.shift() : undefined;
    const data = past?.picture.data ?? new Uint8Array(picture.data.length);
    data.set(picture.data);
    earlier.push({ seconds, picture: { ...picture, data }, hands });
  }

  return () => {
    const own = { square: NOWHERE, seconds: -Infinity };
    faces.push(own);
    return async (picture, seconds, face) => {
      own.square = alignedPatch(face);
      own.seconds = seconds;
      if (seconds >= foundAt + SHARED_FOR) {
        foundAt = seconds;
        const there = faces.filter((other) => seconds - other.seconds < GONE_AFTER);
        found = await findAll(
          picture,
          seconds,
          there.map(({ square }) => square),
        );
      }
      return found;
    };
  };
}

/** A look whose picture may show a hand that is found later. */
interface EarlierLook {
  readonly seconds: number;
  readonly picture: RgbPicture;
  readonly hands: Hand[];
}

const isPast = (look: EarlierLook, seconds: number): boolean => look.seconds <= seconds - FOLLOWED_BACK;

const NOWHERE: Patch = { x: NaN, y: NaN, side: 0, angle: 0 };

/** What all of these squares show of the picture, as a square; null if one of them is too small in it. */
function squareAround(squares: readonly Patch[], { width, height }: RgbPicture): Patch | null {
  const [only] = squares;
  if (squares.length === 1 && only) return only;
  const edges = (of: 'x' | 'y', by: 1 | -1): number[] => squares.map((one) => one[of] + (by * one.side) / 2);
  const [x1, y1] = [Math.max(0, Math.min(...edges('x', -1))), Math.max(0, Math.min(...edges('y', -1)))];
  const [x2, y2] = [
    Math.min(width, Math.max(...edges('x', 1))),
    Math.min(height, Math.max(...edges('y', 1))),
  ];
  const side = Math.max(x2 - x1, y2 - y1);
  if (side > WIDEST * Math.min(...squares.map((one) => one.side))) return null;
  return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, side, angle: 0 };
}

function fingersBelow({ x, y, side, angle }: Patch): Patch {
  return { ...moved({ x, y }, angle, -FINGERS_BELOW.down * side), side: FINGERS_BELOW.side * side, angle };
}

/** Whether the picture ends within this patch. */
const isCutOff = ({ y, side }: Patch, { height }: RgbPicture): boolean => y + side / 2 > height;

/** Whether two patches touch, or nearly. */
const isBeside = (a: Patch, b: Patch): boolean =>
  Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) < (a.side + b.side) / 2;

/** Pairs of numbers of a palm: center, size, and seven joints, of which these two show how it is turned. */
const PALM_PAIRS = 9;
const PALM_WRIST = 2;
const PALM_MIDDLE_FINGER = 4;

/** Side of a hand's patch in sizes of its palm, and how far its middle is from the palm's towards the fingers. */
const HAND_IN_PALMS = 2.6;
const FINGERS_IN_PALMS = 0.5;

/** `palm` is in fractions of the patch in which it was found. */
function patchOfPalm(palm: Float32Array, patch: Patch): Patch {
  const points = pointsIn(palm, patch);
  const [center = ORIGIN] = points;
  const size = Math.max(palm[2] ?? 0, palm[3] ?? 0) * patch.side;
  const angle = uprightAngle(points[PALM_WRIST] ?? ORIGIN, points[PALM_MIDDLE_FINGER] ?? ORIGIN);
  return { ...moved(center, angle, FINGERS_IN_PALMS * size), side: HAND_IN_PALMS * size, angle };
}

/** The joints around which a hand's patch is laid: those of the palm and the lower ones of the fingers. */
const STEADY_JOINTS = [0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18] as const;

/** Side of the patch in extents of these joints, and how far its middle is from theirs towards the fingers. */
const HAND_IN_EXTENTS = 2;
const FINGERS_IN_EXTENTS = 0.1;

/** Where a hand is expected that was here before. */
function patchOfHand(hand: Hand): Patch {
  const joint = (index: number): Point => hand[index] ?? ORIGIN;
  const angle = uprightAngle(joint(0), middleOf([joint(6), joint(14), joint(10)]));
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const steady = STEADY_JOINTS.map(joint);
  const across = steady.map(({ x, y }) => x * cos + y * sin);
  const down = steady.map(({ x, y }) => y * cos - x * sin);
  const [left, right, top, bottom] = [
    Math.min(...across),
    Math.max(...across),
    Math.min(...down),
    Math.max(...down),
  ];
  const extent = Math.max(right - left, bottom - top);
  const [u, v] = [(left + right) / 2, (top + bottom) / 2];
  const middle = { x: u * cos - v * sin, y: u * sin + v * cos };
  return {
    ...moved(middle, angle, FINGERS_IN_EXTENTS * (bottom - top)),
    side: HAND_IN_EXTENTS * extent,
    angle,
  };
}

const ORIGIN: Point = { x: 0, y: 0 };

/** By how much a patch is turned in which the way from the wrist to the fingers goes up. */
const uprightAngle = (wrist: Point, fingers: Point): number =>
  Math.atan2(fingers.y - wrist.y, fingers.x - wrist.x) + Math.PI / 2;

/** A point that is so far above another in a patch of this angle. */
const moved = ({ x, y }: Point, angle: number, by: number): Point => ({
  x: x + by * Math.sin(angle),
  y: y - by * Math.cos(angle),
});

function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce((all, { x, y }) => ({ x: all.x + x, y: all.y + y }), ORIGIN);
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** Fractions of a patch, x and y, as points of the picture. */
function pointsIn(values: Float32Array, patch: Patch): Point[] {
  return Array.from({ length: values.length / 2 }, (_, i) =>
    patchPoint(patch, values[i * 2] ?? NaN, values[i * 2 + 1] ?? NaN),
  );
}

/** Whether a patch shows this hand: it has its middle near the hand's. */
function isAt(hand: Hand, patch: Patch): boolean {
  const { x, y, side } = patchOfHand(hand);
  return Math.hypot(x - patch.x, y - patch.y) < Math.min(side, patch.side) / 4;
}

function isNear(hand: Hand, { x, y, side }: Patch): boolean {
  const reach = (FOLLOWED * side) / 2;
  return hand.some((joint) => Math.max(Math.abs(joint.x - x), Math.abs(joint.y - y)) < reach);
}
