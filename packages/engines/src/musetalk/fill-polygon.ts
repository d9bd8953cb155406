/** A closed polygon in grid units: x0, y0, x1, y1, … */
export type Polygon = Float32Array;

/** A part of an array that holds rows of cells in sequence, the first at `offset`. */
export interface Grid {
  readonly cells: Float32Array;
  readonly offset: number;
  readonly columns: number;
  readonly rows: number;
}

/** Sets the cells of a grid whose centres lie inside the polygon (even-odd rule) to 1. */
export function fillPolygon({ cells, offset, columns, rows }: Grid, polygon: Polygon): void {
  const corners = polygon.length / 2;
  const crossings = new Float32Array(corners);
  for (let row = 0; row < rows; row++) {
    const y = row + 0.5;
    let count = 0;
    for (let i = 0; i < corners; i++) {
      const j = (i + 1) % corners;
      const xi = polygon[2 * i] ?? 0;
      const yi = polygon[2 * i + 1] ?? 0;
      const xj = polygon[2 * j] ?? 0;
      const yj = polygon[2 * j + 1] ?? 0;
      if (yi <= y === yj <= y) continue;
      crossings[count++] = xi + ((y - yi) / (yj - yi)) * (xj - xi);
    }
    const sorted = crossings.subarray(0, count).sort();
    const start = offset + row * columns;
    for (let pair = 0; pair + 1 < count; pair += 2) {
      const from = Math.max(0, Math.ceil((sorted[pair] ?? 0) - 0.5));
      const to = Math.min(columns, Math.ceil((sorted[pair + 1] ?? 0) - 0.5));
      if (to > from) cells.fill(1, start + from, start + to);
    }
  }
}
