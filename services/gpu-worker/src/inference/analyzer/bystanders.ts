import { type Box } from '@lipsync/lipsync';
import { overlap } from './overlap';

/** The other faces around the one that is followed: they are not taken for it when it is hidden for a moment. */
export interface Bystanders {
  /** Remembers all faces among `seen` but the followed one; who was remembered before is forgotten. */
  remember(seen: readonly Box[], followed: Box): void;
  /** Goes along with those that have moved a little; nobody is added or forgotten. */
  update(seen: readonly Box[]): void;
  includes(face: Box): boolean;
  forget(): void;
}

/** Two boxes that overlap more than this are of one face. */
export const SAME_FACE_OVERLAP = 0.2;

export function createBystanders(): Bystanders {
  let boxes: readonly Box[] = [];
  const isSame = (a: Box, b: Box): boolean => overlap(a, b) > SAME_FACE_OVERLAP;
  return {
    remember: (seen, followed) => {
      boxes = seen.filter((box) => !isSame(box, followed));
    },
    update: (seen) => {
      boxes = boxes.map((box) => seen.find((other) => isSame(other, box)) ?? box);
    },
    includes: (face) => boxes.some((box) => isSame(box, face)),
    forget: () => {
      boxes = [];
    },
  };
}
