import { overlap } from './overlap';
import { type Box } from '@lipsync/kernels';

/** The other faces around the followed one. The tracker does not mistake them for it when it is briefly hidden. */
export interface Bystanders {
  /** Remembers all faces in `seen` except the followed one. Forgets a bystander missed several times in a row. */
  remember(seen: readonly Box[], followed: Box): void;
  /** Updates the positions of bystanders that have moved a little; adds and forgets nobody. */
  update(seen: readonly Box[]): void;
  /** How much the face overlaps the nearest bystander, 0..1. */
  nearness(face: Box): number;
  areKnown(): boolean;
  forget(): void;
}

/** Two boxes that overlap by more than this belong to one face. */
export const SAME_FACE_OVERLAP = 0.2;

/** The detector sometimes misses a face: a bystander has left only after this many misses in a row. */
const MOST_MISSED = 3;

interface Bystander {
  readonly box: Box;
  /** How many times in a row the bystander was not seen. */
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

/** Where the face in `box` is now: the seen box that overlaps it most, or `box` itself if none overlaps. */
function nearest(seen: readonly Box[], box: Box): Box {
  const near = seen.filter((other) => overlap(other, box) > SAME_FACE_OVERLAP);
  return (
    near.reduce<Box | null>(
      (best, other) => (best === null || overlap(other, box) > overlap(best, box) ? other : best),
      null,
    ) ?? box
  );
}
