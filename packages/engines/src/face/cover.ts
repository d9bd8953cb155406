import { type Affine } from '@lipsync/kernels';
import { distance, landmark, landmarkCenter, LEFT_EYE, MOUTH, RIGHT_EYE } from './landmarks';

/*
 * What lies before a face, such as a hand or a microphone, is told in a grid that moves, turns and grows with the face:
 * a square with level eyes that holds all that an engine may change.
 */

/** Cells per side of the grid. */
export const COVER_SIDE = 64;

/**
 * One frame's grid: a bit per cell, 1 where something lies before the face. Row by row from the top left, eight cells a
 * byte, the first in its lowest bit.
 */
export type Cover = Uint8Array;
export const COVER_BYTES = COVER_SIDE ** 2 / 8;

/** The covers of a clip by frame; frames with nothing before the face have none. */
export type Covers = ReadonlyMap<number, Cover>;

/** Whether a cell is covered; none is outside the grid. */
export function isCovered(cover: Cover, column: number, row: number): boolean {
  if (column < 0 || column >= COVER_SIDE || row < 0 || row >= COVER_SIDE) return false;
  const cell = row * COVER_SIDE + column;
  return (((cover[cell >> 3] ?? 0) >> (cell & 7)) & 1) === 1;
}

/** The cover of the cells for which this holds. */
export function coverOf(covers: (column: number, row: number) => boolean): Cover {
  const cover = new Uint8Array(COVER_BYTES);
  for (let cell = 0; cell < COVER_SIDE ** 2; cell++) {
    if (covers(cell % COVER_SIDE, Math.floor(cell / COVER_SIDE)))
      cover[cell >> 3] = (cover[cell >> 3] ?? 0) | (1 << (cell & 7));
  }
  return cover;
}

/** Also covers the eight cells around each covered one. */
export function grownCover(cover: Cover): Cover {
  const beside = [-1, 0, 1];
  return coverOf((column, row) =>
    beside.some((down) => beside.some((across) => isCovered(cover, column + across, row + down))),
  );
}

/** Side of the square in distances of the eye centers: from the middle of the forehead to below the chin. */
const REACH = 3.2;

/**
 * Distances of the eyes in the way from them to the mouth, of a face seen from the front. In a turned face the eyes come
 * closer together, but not to the mouth.
 */
const EYES_TO_MOUTH = 1.1;

/**
 * Maps a picture to the cells of its face's grid, whose first column is from 0 to 1. Takes a frame's 136 landmark values
 * in pixels of the *source*, as the track has them: a picture of another shape has other squares.
 */
export function coverTransform(landmarks: Float32Array): Affine {
  const left = landmarkCenter(landmarks, LEFT_EYE);
  const right = landmarkCenter(landmarks, RIGHT_EYE);
  const eyes = { x: (left.x + right.x) / 2, y: (left.y + right.y) / 2 };
  const mouth = landmarkCenter(landmarks, MOUTH);
  const unit = Math.max(distance(left, right), distance(eyes, mouth) / EYES_TO_MOUTH);
  const angle = Math.atan2(right.y - left.y, right.x - left.x);
  const a = (COVER_SIDE / (REACH * unit)) * Math.cos(angle);
  const b = (COVER_SIDE / (REACH * unit)) * Math.sin(angle);
  const x = (eyes.x + mouth.x) / 2;
  const y = (eyes.y + mouth.y) / 2;
  const middle = COVER_SIDE / 2;
  return { a, b, c: middle - a * x - b * y, d: -b, e: a, f: middle + b * x - a * y };
}

/** Whether a covered cell lies within `margin` cells of the upright bounds that the mouth has in the grid. */
export function coversMouth(cover: Cover, landmarks: Float32Array, margin: number): boolean {
  const { a, b, c, d, e, f } = coverTransform(landmarks);
  const points = Array.from({ length: MOUTH[1] - MOUTH[0] }, (_, i) => landmark(landmarks, MOUTH[0] + i));
  const columns = points.map(({ x, y }) => a * x + b * y + c);
  const rows = points.map(({ x, y }) => d * x + e * y + f);
  const [left, right] = [Math.min(...columns) - margin, Math.max(...columns) + margin];
  const [top, bottom] = [Math.min(...rows) - margin, Math.max(...rows) + margin];
  for (let row = Math.floor(top); row < bottom; row++) {
    for (let column = Math.floor(left); column < right; column++)
      if (isCovered(cover, column, row)) return true;
  }
  return false;
}
