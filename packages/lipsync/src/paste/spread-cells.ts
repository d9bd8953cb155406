/** A row of a structuring element, `dy` rows below its middle: it holds the columns up to `reach` to both sides. */
export interface ElementRow {
  readonly dy: number;
  readonly reach: number;
}

/** For every cell of a square map of 0 and 1: 1 in `target` when a cell of `value` lies in the element around it. */
export type SpreadCells = (
  map: Uint8Array,
  value: 0 | 1,
  element: readonly ElementRow[],
  target: Uint8Array,
) => void;

/**
 * Spreading the ones is a dilation, spreading the zeros the complement of an erosion; what lies outside the map is
 * neither. `target` is another array than the map.
 */
export function createSpreadCells(side: number): SpreadCells {
  /** Columns to the nearest cell of the value in the same row; FAR or more where there is none. */
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

/** Further than any element reaches, and with a row added still a number of 16 bits. */
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
