import { ALIGNED_CELLS, connectedParts } from './aligned-face';
import { colorDistance, type CoverReference } from './cover-reference';

/*
 * Finds cloth that is pulled up before a face: a scarf, a collar, a blanket. Cell by cell a color near that of the skin, or
 * of the lips, could be the face's own, moved. But below the mouth a face never has one color all over that it hardly has
 * anywhere else.
 */

/** This lowest part of the face is covered first. */
const LOWEST = 0.25;

/** Cloth has one color, but for its folds: so much of that part is no farther from the mean of it, nor is the rest. */
const ALL_OVER = 0.95;
const FOLDS = 30;

/** At most this part of the face, without the mouth, usually has a color that is as near. */
const SELDOM = 0.1;
const NEAR = 12;

/** It covers at least this part of the face, and differs so much from what is usually there, on average. */
const LEAST = 0.4;
const DIFFERS = 22;

type UsualFace = Pick<CoverReference, 'colors' | 'face' | 'around' | 'inside' | 'mouth'>;

/**
 * The cells of cloth before the face, 1 each.
 *
 * @param colors of a look, in the light of the reference
 */
export function clothCells(
  colors: Float32Array,
  { colors: usual, face, around, inside, mouth }: UsualFace,
): Uint8Array {
  const cloth = new Uint8Array(ALIGNED_CELLS);
  const lowest = inside.slice(inside.length - Math.floor(inside.length * LOWEST));
  if (lowest.length === 0) return cloth;
  const color = meanColor(colors, lowest);
  const isAlike = (cell: number): boolean => colorDistance(colors, cell * 3, color, 0) < FOLDS;
  if (lowest.filter(isAlike).length < ALL_OVER * lowest.length) return cloth;
  const skin = inside.filter((cell) => mouth[cell] !== 1);
  const isUsual = (cell: number): boolean => colorDistance(usual, cell * 3, color, 0) < NEAR;
  if (skin.filter(isUsual).length > SELDOM * skin.length) return cloth;
  const alike = around.map((cell, i) => (cell === 1 && isAlike(i) ? 1 : 0));
  const [largest = []] = connectedParts(alike).sort((a, b) => b.length - a.length);
  const differs = largest.reduce((sum, cell) => sum + colorDistance(colors, cell * 3, usual, cell * 3), 0);
  const covered = largest.filter((cell) => face[cell] === 1).length;
  if (covered < LEAST * inside.length || differs < DIFFERS * largest.length) return cloth;
  for (const cell of largest) cloth[cell] = 1;
  return cloth;
}

function meanColor(colors: Float32Array, cells: readonly number[]): Float32Array {
  return Float32Array.from([0, 1, 2], (channel) => {
    const sum = cells.reduce((total, cell) => total + (colors[cell * 3 + channel] ?? 0), 0);
    return sum / Math.max(1, cells.length);
  });
}
