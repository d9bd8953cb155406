import { blurLines, gaussianKernel } from './mask';

const SIZE = 24;
const half = gaussianKernel(9, 1);
const radius = half.length - 1;

/** Blobs in an otherwise empty grid, two of them at its border. */
const grid = Float32Array.from({ length: SIZE * SIZE }, (_, i) => {
  const [x, y] = [i % SIZE, Math.floor(i / SIZE)];
  return (x < 3 && y === 0) || (x === 23 && y === 23) || (x > 8 && x < 15 && y > 9 && y < 13) ? 1 + x / 7 : 0;
});

/** The definition of the convolution. */
function convolved(x: number, y: number, along: 'rows' | 'columns'): number {
  let sum = 0;
  for (let d = -radius; d <= radius; d++) {
    const column = along === 'rows' ? x + d : x;
    const row = along === 'rows' ? y : y + d;
    const inside = column >= 0 && column < SIZE && row >= 0 && row < SIZE;
    if (inside) sum += (grid[row * SIZE + column] ?? 0) * (half[Math.abs(d)] ?? 0);
  }
  return sum;
}

test.each(['rows', 'columns'] as const)('blurring %s is a convolution with zeros outside', (along) => {
  const target = new Float32Array(SIZE * SIZE).fill(9);
  blurLines(grid, target, SIZE, along, half);
  target.forEach((value, i) =>
    expect(value).toBeCloseTo(convolved(i % SIZE, Math.floor(i / SIZE), along), 5),
  );
});

test('the weights of a kernel add up to one and decrease with the distance', () => {
  const sum = half.reduce((total, weight, d) => total + (d === 0 ? weight : 2 * weight), 0);
  expect(sum).toBeCloseTo(1, 6);
  for (let d = 1; d <= radius; d++) expect(half[d]).toBeLessThan(half[d - 1] ?? 0);
});
