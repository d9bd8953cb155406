import { type Box } from '@lipsync/lipsync';
import { overlap } from './overlap';

/** The other faces around the one that is followed: they are not taken for it when it is hidden for a moment. */
export interface Bystanders {
  /** Remembers all faces among `seen` but the followed one; who was not seen several times in a row is forgotten. */
  remember(seen: readonly Box[], followed: Box): void;
  /** Goes along with those that have moved a little; nobody is added or forgotten. */
  update(seen: readonly Box[]): void;
  /** How much the face overlaps the bystander nearest to it, 0..1. */
  nearness(face: Box): number;
  areKnown(): boolean;
  forget(): void;
}

/** Two boxes that overlap more than this are of one face. */
export const SAME_FACE_OVERLAP = 0.2;

/** The detector overlooks a face now and then: only who was not seen so many times in a row has left. */
const MOST_MISSED = 3;

interface Bystander {
  readonly box: Box;
  /** How often in a row it was not seen. */
  readonly missed: number;
}

export function createBystanders(): Bystanders {
  let known: readonly Bystander[] = [];
  const isSame = (a: Box, b: Box): boolean => overlap(a, b) > SAME_FACE_OVERLAP;
  return {
    remember: (seen, followed) => {
      const others = seen.filter((box) => !isSame(box, followed));
      const unseen = known
        .filter(({ box }) => !others.some((other) => isSame(other, box)))
        .map(({ box, missed }) => ({ box, missed: missed + 1 }));
      known = [
        ...others.map((box) => ({ box, missed: 0 })),
        ...unseen.filter(({ missed }) => missed < MOST_MISSED),
      ];
    },
    update: (seen) => {
      known = known.map(({ box, missed }) => ({ box: nearest(seen, box), missed }));
    },
    nearness: (face) => Math.max(0, ...known.map(({ box }) => overlap(box, face))),
    areKnown: () => known.length > 0,
    forget: () => {
      known = [];
    },
  };
}

/** Where the face in `box` is seen now: the one that overlaps it most, or still there when there is none. */
function nearest(seen: readonly Box[], box: Box): Box {
  const near = seen.filter((other) => overlap(other, box) > SAME_FACE_OVERLAP);
  return (
    near.reduce<Box | null>(
      (best, other) => (best === null || overlap(other, box) > overlap(best, box) ? other : best),
      null,
    ) ?? box
  );
}
