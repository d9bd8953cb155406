import { type Cover, coverOf, coverTransform, isCovered } from '@lipsync/engines';
import { createPatchSampler, invertAffine, type Patch, type RgbPicture } from '@lipsync/kernels';
import { ALIGNED_SIDE, alignedLandmarks, alignedPatch, cellOf } from './aligned-face';
import { createReference } from './cover-reference';
import {
  type CellBits,
  COVER_GOES_ON,
  coversInTime,
  fromBits,
  type JudgedLook,
  NEIGHBORS,
  partOf,
  SHORTEST_COVER,
  toBits,
  united,
} from './covers-in-time';
import { handCells } from './hand-cells';
import { type Hand, type HandFinder } from './hand-finder';
import { type PlacedLook, standingCells, standingThing } from './standing-thing';
import { mouthOf, uncommonCells } from './uncommon-cells';

/*
 * Finds what covers a face: hands, which a network knows, and what differs from the face's own usual look, in a square in
 * which eyes and nose always are in one place.
 */

/** The usual look of a face is that of so many seconds before a look and after it. It is made again after every block. */
const BEFORE = 12;
const AFTER = 3;
const BLOCK = 2;

/** It is made of so many looks, chosen evenly out of those that are kept, one in so many seconds. */
const REFERENCES = 12;
const KEEP_EVERY = 0.25;

/** A look is judged so many seconds after the one before. What lies between shares what is found on both sides. */
const JUDGE_EVERY = 0.06;

/** What covers a face does so before it is recognized, and a little longer than it is: a fast hand is blurred. */
const MARGIN = 0.1;

/**
 * A mouth stays as filmed as soon as something that passes reaches it, which is over soon. What stands before the face
 * throughout may cover this part of it: the rest is generated around it.
 */
const BESIDE_MOUTH = 0.5;

/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/** So many seconds after a frame may affect what is found to cover its face. */
export const COVER_REACH = BLOCK + AFTER + SHORTEST_COVER + COVER_GOES_ON + NEIGHBORS + MARGIN;

interface PendingLook extends PlacedLook {
  readonly frame: number;
  /** The landmarks in pixels of the source. */
  readonly inSource: Float32Array;
  /** The hands before it, to which later looks may add. */
  readonly hands: readonly Hand[];
}

/** A look at a picture in which the face was not found. */
interface LostLook {
  readonly frame: number;
  readonly seconds: number;
}

/** What covers the face from a frame on, up to the next one that is told. */
export interface FoundCover {
  readonly cover: Cover | null;
  readonly coversMouth: boolean;
}
export type FoundCovers = ReadonlyMap<number, FoundCover>;

/** A look whose picture is not needed any more. */
interface CoverLook extends JudgedLook {
  readonly frame: number;
  /** Where the face's square is, and the landmarks in pixels of the source. */
  readonly patch: Patch;
  readonly inSource: Float32Array;
  readonly mouth: CellBits;
  /** Cells of what is there throughout; null if nothing is. */
  readonly standing: CellBits | null;
}

export type CoverFinder = ReturnType<typeof createCoverFinder>;

/** For one face of a shot, in pictures whose pixels are so many of the source, x and y. Keeps those of the last seconds. */
export function createCoverFinder(findHands: HandFinder, scale: readonly [number, number]) {
  const samplePatch = createPatchSampler();
  const looks: CoverLook[] = [];
  const lost: LostLook[] = [];
  let pending: PendingLook[] = [];
  let kept: PlacedLook[] = [];
  let blockStart: number | null = null;
  let lastSeconds = -Infinity;

  /** Judges the looks of the block that begins at `start`. */
  function judge(start: number): void {
    const end = start + BLOCK - ROUNDING;
    const block = pending.filter(({ seconds }) => seconds < end);
    pending = pending.slice(block.length);
    kept = kept.filter(({ seconds }) => seconds >= start - BEFORE);
    if (block.length === 0) return;
    const around = kept.filter(({ seconds }) => seconds < end + AFTER);
    const usual = evenly(around);
    const reference = createReference(usual);
    const standing = standingThing(usual, around);
    for (const look of block) {
      const { cells: uncommon, sure, possible } = uncommonCells(look, reference);
      const { frame, seconds, patch, inSource } = look;
      const hands = handCells(look.hands, patch);
      const cells = uncommon.map((cell, i) => cell | (hands[i] ?? 0));
      looks.push({
        ...{ frame, seconds, patch, inSource },
        cells: cells.includes(1) ? toBits(cells) : null,
        sure: sure || hands.includes(1),
        possible: toBits(possible),
        mouth: toBits(mouthOf(look, reference)),
        standing: standing && toBits(standingCells(standing, look)),
      });
    }
  }

  function judgeUntil(seconds: number): void {
    while (blockStart !== null && pending.length > 0 && seconds >= blockStart + BLOCK + AFTER) {
      judge(blockStart);
      blockStart += BLOCK;
    }
  }

  return {
    /** A look at a picture in which the face has these landmarks; looks come in order. */
    async see(
      frame: number,
      seconds: number,
      picture: RgbPicture,
      points: Float32Array,
      inSource: Float32Array,
    ): Promise<void> {
      if (seconds < lastSeconds + JUDGE_EVERY - ROUNDING) return;
      lastSeconds = seconds;
      if (pending.length === 0 || blockStart === null) blockStart = seconds;
      judgeUntil(seconds);
      const patch = alignedPatch(points);
      const colors = new Uint8Array(ALIGNED_SIDE ** 2 * 3);
      samplePatch(picture, patch, { width: ALIGNED_SIDE, height: ALIGNED_SIDE, data: colors });
      const hands = await findHands(picture, seconds, points);
      const landmarks = alignedLandmarks(points, patch);
      const look = { frame, seconds, colors, landmarks, patch, inSource, hands };
      pending.push(look);
      const last = kept.at(-1);
      if (last === undefined || seconds >= last.seconds + KEEP_EVERY - ROUNDING) kept.push(look);
    },
    /** A look at a picture in which the face was not found. */
    lose(frame: number, seconds: number): void {
      lost.push({ frame, seconds });
    },
    /** No look follows. Frees the memory of the pictures. */
    end(): void {
      judgeUntil(Infinity);
      kept = [];
    },
    /** What covered the face at the looks judged so far, and after the end at all. */
    found: (): FoundCovers => settle(looks, lost, scale),
  };
}

function evenly<T>(rows: readonly T[]): T[] {
  const count = Math.min(REFERENCES, rows.length);
  return Array.from({ length: count }, (_, i) => rows[Math.floor(((i + 0.5) * rows.length) / count)]).filter(
    (row) => row !== undefined,
  );
}

/** The covered aligned cells as a cover of the face in its source picture. */
function inFaceSpace(
  cells: Uint8Array,
  { patch, inSource }: CoverLook,
  scale: readonly [number, number],
): Cover {
  const { a, b, c, d, e, f } = invertAffine(coverTransform(inSource));
  const inside = (at: number): boolean => at >= 0 && at < ALIGNED_SIDE;
  return coverOf((column, row) => {
    const [u, v] = [column + 0.5, row + 0.5];
    const point = { x: (a * u + b * v + c) / scale[0], y: (d * u + e * v + f) / scale[1] };
    const { x, y } = cellOf(point, patch);
    return inside(x) && inside(y) && cells[Math.floor(y) * ALIGNED_SIDE + Math.floor(x)] === 1;
  });
}

/**
 * Brings together what the looks show, and widens it in time. What passes covers the mouth for as long as the face is not
 * found beside it.
 */
function settle(
  looks: readonly CoverLook[],
  lost: readonly LostLook[],
  scale: readonly [number, number],
): FoundCovers {
  const covered = coversInTime(looks).flatMap((passing, i) => {
    const look = looks[i];
    const bits = look ? united(passing, look.standing) : null;
    if (bits === null || look === undefined) return [];
    const cover = inFaceSpace(fromBits(bits), look, scale);
    const part = (covering: CellBits | null): number => partOf(look.mouth, covering);
    const coversMouth = part(passing) > 0 || part(look.standing) > BESIDE_MOUTH;
    return [{ seconds: look.seconds, cover, coversMouth, passes: passing !== null }];
  });
  const passing = nearby(
    covered.filter(({ passes }) => passes),
    NEIGHBORS,
  );
  const hidden = lost.filter(({ seconds }) => passing(seconds).length > 0);
  const inOrder = <Look extends { readonly seconds: number }>(all: readonly Look[]): Look[] =>
    all.toSorted((a, b) => a.seconds - b.seconds);
  const covers = nearby(
    inOrder([...covered, ...hidden.map(({ seconds }) => ({ seconds, cover: null, coversMouth: true }))]),
    MARGIN,
  );
  return new Map(
    inOrder<LostLook>([...looks, ...hidden]).map(({ frame, seconds }) => {
      const near = covers(seconds);
      return [frame, { cover: unionOf(near), coversMouth: near.some(({ coversMouth }) => coversMouth) }];
    }),
  );
}

/** Tells which of these looks are at most so many seconds away from a time. Both come in order. */
function nearby<Look extends { readonly seconds: number }>(
  looks: readonly Look[],
  away: number,
): (seconds: number) => Look[] {
  let first = 0;
  return (seconds) => {
    while ((looks[first]?.seconds ?? Infinity) < seconds - away - ROUNDING) first++;
    let end = first;
    while ((looks[end]?.seconds ?? Infinity) <= seconds + away + ROUNDING) end++;
    return looks.slice(first, end);
  };
}

function unionOf(looks: readonly FoundCover[]): Cover | null {
  const covers = looks.map(({ cover }) => cover).filter((cover) => cover !== null);
  return covers.length === 0
    ? null
    : coverOf((column, row) => covers.some((cover) => isCovered(cover, column, row)));
}
