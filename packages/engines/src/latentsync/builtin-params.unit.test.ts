import { faceMask } from './builtin-params';

const { size, spans } = faceMask();
const generated = (row: number, column: number): boolean =>
  spans.some(([at, first, last]) => at === row && column >= first && column <= last);

test('the mask covers as much of the face as the published one', () => {
  const area = spans.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
  expect(Math.abs(area / size ** 2 - 0.407)).toBeLessThan(0.002);
});

test('the mask equals the published one at every eighth pixel, where the latent mask is sampled', () => {
  const cells = (row: number): number[] =>
    Array.from({ length: 32 }, (_, i) => i).filter((column) => generated(row * 8, column * 8));
  const range = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const published: [number, number[]][] = [
    [11, []],
    [12, [...range(2, 9), ...range(23, 30)]],
    [15, [...range(2, 9), ...range(23, 30)]],
    [16, range(2, 30)],
    [22, range(2, 30)],
    [23, range(3, 29)],
    [24, range(4, 28)],
    [25, range(5, 27)],
    [26, range(5, 27)],
    [27, range(7, 25)],
    [28, range(8, 24)],
    [29, range(10, 22)],
    [30, range(13, 20)],
    [31, []],
  ];
  for (const [row, columns] of published) expect([row, cells(row)]).toEqual([row, columns]);
});

test('the mask covers every row from the cheeks to the chin, without overlaps', () => {
  const rows = new Set(spans.map(([row]) => row));
  expect([...rows].sort((a, b) => a - b)).toEqual(Array.from({ length: 242 - 95 + 1 }, (_, i) => 95 + i));
  expect(spans).toHaveLength(rows.size + (127 - 95 + 1));
});
