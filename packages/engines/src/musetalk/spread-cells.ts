/** A row of a structuring element, `dy` rows below its middle, with the columns up to `reach` on both sides. */
export interface ElementRow {
  readonly dy: number;
  readonly reach: number;
}

/** Sets each cell of `target` to 1 if a cell of `value` is in the element around it, for a square map of 0 and 1. */
export type SpreadCells = (
  map: Uint8Array,
  value: 0 | 1,
  element: readonly ElementRow[],
  target: Uint8Array,
) => void;

/**
 * Spreading the ones is a dilation; spreading the zeros is the complement of an erosion. Cells outside the map count as
 * neither. `target` must not be the map.
 */
export function createSpreadCells(side: number): SpreadCells {
  /** Columns to the nearest cell of the value in the same row; FAR or more if there is none. */
  const distances = new Uint16Array(side * side);
  return (map, value, element, target) => {
    for (let row = 0; row < side; row++) measureRow(map, value, side, row, distances);
    target.fill(0);
    for (const { dy, reach } of element) {
      const first = Math.max(0, -dy) * side;
      const end = Math.min(side, side - dy) * side;
      const shift = dy * side;
      for (let i = first; i < end; i++) if ((distances[i + shift] ?? 0) <= reach) target[i] = 1;
    }
  };
}

/** Further than any element extends, and still a 16-bit number with a row added. */
const FAR = 0x7fff;

function measureRow(map: Uint8Array, value: number, side: number, row: number, distances: Uint16Array): void {
  const start = row * side;
  const end = start + side;
  let distance = FAR;
  for (let i = start; i < end; i++) {
    distance = map[i] === value ? 0 : distance + 1;
    distances[i] = distance;
  }
  distance = FAR;
  for (let i = end - 1; i >= start; i--) {
    distance = map[i] === value ? 0 : distance + 1;
    if (distance < (distances[i] ?? 0)) distances[i] = distance;
  }
}
