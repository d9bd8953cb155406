import { type Affine } from './picture';
import { type Covered, coveredRows, endColumn, firstColumn } from './sampling';

const WIDTH = 80;
const HEIGHT = 60;
const COVERED: Covered = { left: 3, right: 28, top: 14, bottom: 30 };

/** Turns the picture around its middle, which it maps to the middle of a square of 32 samples. */
function turned(angle: number, scale: number): Affine {
  const [a, d] = [scale * Math.cos(angle), scale * Math.sin(angle)];
  return {
    a,
    b: -d,
    c: 16 - (a * WIDTH) / 2 + (d * HEIGHT) / 2,
    d,
    e: a,
    f: 16 - (d * WIDTH) / 2 - (a * HEIGHT) / 2,
  };
}

function isCovered({ a, b, c, d, e, f }: Affine, x: number, y: number): boolean {
  const across = a * x + b * y + c;
  const down = d * x + e * y + f;
  return across >= COVERED.left && across <= COVERED.right && down >= COVERED.top && down <= COVERED.bottom;
}

test('no pixel under the mask is left out, however a face is turned', () => {
  for (let step = 0; step < 48; step++) {
    const map = turned((step / 24) * Math.PI, step % 2 === 0 ? 0.7 : 1.6);
    const rows = coveredRows(map, COVERED);
    for (let y = 0; y < HEIGHT; y++) {
      const pair = y - (y % 2);
      const from = firstColumn(map, pair, COVERED);
      const end = endColumn(map, pair, COVERED);
      for (let x = 0; x < WIDTH; x++) {
        if (!isCovered(map, x, y)) continue;
        expect([step, y, x >= from && x < end, y >= rows.from && y < rows.to]).toEqual([step, y, true, true]);
      }
    }
  }
});
