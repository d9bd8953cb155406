/** A closed polygon in grid units: x0, y0, x1, y1, … */
export type Polygon = Float32Array;

/** Sets the cells of a size² grid whose centres lie inside the polygon (even-odd rule) to 1, from row `fromRow` on. */
export function fillPolygon(grid: Float32Array, size: number, polygon: Polygon, fromRow: number): void {
  const corners = polygon.length / 2;
  const crossings = new Float32Array(corners);
  for (let row = fromRow; row < size; row++) {
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
    for (let pair = 0; pair + 1 < count; pair += 2) {
      const from = Math.max(0, Math.ceil((sorted[pair] ?? 0) - 0.5));
      const to = Math.min(size, Math.ceil((sorted[pair + 1] ?? 0) - 0.5));
      if (to > from) grid.fill(1, row * size + from, row * size + to);
    }
  }
}
