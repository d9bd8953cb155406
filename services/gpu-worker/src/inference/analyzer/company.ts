import { type Box, type RgbPicture } from '@lipsync/kernels';
import { type Detection } from './face-detector';
import { boxArea, landmarkBounds, overlap } from './face-geometry';

/** Two boxes that overlap by more than this belong to one face. */
export const SAME_FACE_OVERLAP = 0.2;

/** A face that overlaps another one by more than this is that face: its landmarks have slipped. */
const SLIPPED_OVERLAP = 0.5;

/** Every network sometimes misses a face: a bystander has left only after this many misses in a row. */
const MOST_MISSED = 3;

/** So many faces beside the main one are followed, if they are at least so large beside it. */
const MOST_FOLLOWED = 3;
const SMALLEST_FOLLOWED = 1 / 3;

/** Pictures a second of which each is a turn of one face. Of fewer, each is several turns, so that none waits longer. */
const TURNS_PER_SECOND = 30;
/** A face that is followed alone has every third turn, as each of two has. */
const FEWEST_TURNS = 3;
/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/** A look at a followed face. */
export interface Look {
  /** Number of the person, unique in the clip. */
  readonly face: number;
  /** 136 landmark values in pixels of the picture, or null when the face was not there. */
  readonly points: Float32Array | null;
}

/** Finds a face again that had these landmarks a moment ago. */
type FindAgain = (picture: RgbPicture, points: Float32Array) => Promise<Float32Array | null>;

interface Bystander {
  readonly detected: Detection;
  /** How many times in a row the bystander was not seen. */
  readonly missed: number;
  /** The face, if it is followed. */
  readonly followed: Followed | null;
}

interface Followed {
  readonly face: number;
  readonly points: Float32Array;
  /** How many looks in a row missed the face. It has the next one in the next picture. */
  readonly missed: number;
}

/** A followed face that was lost, and where and when it was last seen. */
interface Lost {
  readonly face: number;
  readonly box: Box;
  readonly seconds: number;
}

/**
 * The other faces around the main one. The tracker does not mistake them for it when it is briefly hidden, and the
 * landmarks of those that count are followed too, each less often the more there are: together they have at most three
 * quarters of the looks that a face has alone.
 */
export function createCompany(findAgain: FindAgain, newFace: () => number, longestWait: number) {
  let known: readonly Bystander[] = [];
  let lost: readonly Lost[] = [];
  let turn = 0;
  let before = 0;
  const followed = (): Bystander[] => known.filter((bystander) => bystander.followed !== null);

  /** The followed faces to look at in the next picture: those whose turn it is, and those that the last look missed. */
  function due(seconds: number): Bystander[] {
    const faces = followed();
    const turns = Math.floor((seconds - before) * TURNS_PER_SECOND + ROUNDING);
    before = seconds;
    const cycle = Math.max(faces.length + 1, FEWEST_TURNS);
    const inTurn = new Set<number>();
    for (let i = 0; i < Math.min(Math.max(1, turns), cycle); i++) {
      turn = (turn + 1) % cycle;
      inTurn.add(turn);
    }
    return faces.filter((bystander, i) => inTurn.has(i) || bystander.followed?.missed);
  }

  /** Follows these faces beside the main one, which may be followed meanwhile. */
  async function follow(
    picture: RgbPicture,
    seconds: number,
    faces: readonly Bystander[],
    main: Promise<Float32Array | null>,
  ): Promise<Look[]> {
    const looks: Look[] = [];
    for (const bystander of faces)
      if (bystander.followed)
        looks.push(await followOne(picture, seconds, main, bystander, bystander.followed));
    return looks;
  }

  async function followOne(
    picture: RgbPicture,
    seconds: number,
    main: Promise<Float32Array | null>,
    bystander: Bystander,
    { face, points: last, missed }: Followed,
  ): Promise<Look> {
    const become = (next: Bystander): void => {
      known = known.map((other) => (other === bystander ? next : other));
    };
    const points = await findAgain(picture, last);
    if (points === null && missed + 1 < MOST_MISSED) {
      become({ ...bystander, followed: { face, points: last, missed: missed + 1 } });
      return { face, points };
    }
    const rest = known.filter((other) => other !== bystander);
    if (points === null || isTaken(points, await main, rest)) {
      become({ ...bystander, followed: null });
      lost = [...lost, { face, box: landmarkBounds(last), seconds }];
      return { face, points: null };
    }
    const detected = { ...bystander.detected, box: moved(bystander.detected.box, last, points) };
    become({ ...bystander, detected, followed: { face, points, missed: 0 } });
    return { face, points };
  }

  /** Begins to follow the bystanders just seen who count beside the main face, if `confirm` finds their landmarks. */
  async function meet(
    seconds: number,
    main: Float32Array,
    confirm: (detected: Detection) => Promise<Float32Array | null>,
  ): Promise<Look[]> {
    const looks: Look[] = [];
    const smallest = boxArea(landmarkBounds(main)) * SMALLEST_FOLLOWED ** 2;
    lost = lost.filter((face) => seconds - face.seconds < longestWait);
    const met: Bystander[] = [];
    for (const bystander of known) {
      met.push(bystander);
      if (bystander.followed !== null || bystander.missed > 0) continue;
      if (followed().length + looks.length >= MOST_FOLLOWED) continue;
      if (boxArea(bystander.detected.box) < smallest) continue;
      const points = await confirm(bystander.detected);
      if (points === null || isTaken(points, main, [...known, ...met])) continue;
      const box = landmarkBounds(points);
      const returned = lost.find((face) => overlap(face.box, box) > SAME_FACE_OVERLAP);
      lost = lost.filter((face) => face !== returned);
      const face = returned?.face ?? newFace();
      met[met.length - 1] = { ...bystander, followed: { face, points, missed: 0 } };
      looks.push({ face, points });
    }
    known = met;
    return looks;
  }

  return {
    due,
    follow,
    meet,
    /** Remembers all faces in `seen` except the main one. Forgets a bystander missed several times in a row. */
    remember(seconds: number, seen: readonly Detection[], main: Box): void {
      const others = seen.filter(({ box }) => !isSame(box, main));
      const beside: Bystander[] = [];
      for (const detected of others) {
        const before = known.find((one) => isSame(one.detected.box, detected.box))?.followed ?? null;
        const isOther = beside.some(({ followed: other }) => other !== null && other === before);
        beside.push({ detected, missed: 0, followed: isOther ? null : before });
      }
      const unseen = known
        .filter(({ detected }) => !others.some((other) => isSame(other.box, detected.box)))
        .map((bystander) => ({ ...bystander, missed: bystander.missed + 1 }));
      known = [...beside, ...unseen.filter(({ missed }) => missed < MOST_MISSED)];
      for (const { missed, followed: gone } of unseen)
        if (missed >= MOST_MISSED && gone !== null)
          lost = [...lost, { face: gone.face, box: landmarkBounds(gone.points), seconds }];
    },
    /**
     * Updates the positions of bystanders that have moved a little; adds and forgets nobody. Landmarks tell where those
     * are that are followed.
     */
    update(seen: readonly Box[]): void {
      known = known.map((bystander) => {
        if (bystander.followed !== null) return bystander;
        return {
          ...bystander,
          detected: { ...bystander.detected, box: nearest(seen, bystander.detected.box) },
        };
      });
    },
    /** How much the face overlaps the nearest bystander, 0..1. */
    nearness: (face: Box): number => Math.max(0, ...known.map(({ detected }) => overlap(detected.box, face))),
    /** The number of the followed face at these landmarks, who is a bystander no longer; null if none is there. */
    take(points: Float32Array): number | null {
      const taken = known.find((one) => one.followed && hasSlipped(one.followed.points, points));
      known = known.filter((one) => one !== taken);
      return taken?.followed?.face ?? null;
    },
    /** Whether nobody is beside the main face, or others of whom all are followed, or some are not. */
    kind(): 'alone' | 'followed' | 'accompanied' {
      if (known.length === 0) return 'alone';
      return known.every((bystander) => bystander.followed !== null) ? 'followed' : 'accompanied';
    },
    forget(): void {
      known = [];
      lost = [];
    },
  };
}

const isSame = (a: Box, b: Box): boolean => overlap(a, b) > SAME_FACE_OVERLAP;

/** Whether these landmarks are those of the main face or of another one that is followed. */
const isTaken = (points: Float32Array, main: Float32Array | null, others: readonly Bystander[]): boolean =>
  [main, ...others.map(({ followed }) => followed?.points ?? null)].some(
    (other) => other !== null && hasSlipped(points, other),
  );

const hasSlipped = (points: Float32Array, other: Float32Array): boolean =>
  overlap(landmarkBounds(points), landmarkBounds(other)) > SLIPPED_OVERLAP;

/** The box of a face whose landmarks have moved. */
function moved(box: Box, before: Float32Array, after: Float32Array): Box {
  const [from, to] = [landmarkBounds(before), landmarkBounds(after)];
  return {
    x1: box.x1 + to.x1 - from.x1,
    y1: box.y1 + to.y1 - from.y1,
    x2: box.x2 + to.x2 - from.x2,
    y2: box.y2 + to.y2 - from.y2,
  };
}

/** Where the face in `box` is now: the seen box that overlaps it most, or `box` itself if none overlaps. */
function nearest(seen: readonly Box[], box: Box): Box {
  const near = seen.filter((other) => isSame(other, box));
  return (
    near.reduce<Box | null>(
      (best, other) => (best === null || overlap(other, box) > overlap(best, box) ? other : best),
      null,
    ) ?? box
  );
}
