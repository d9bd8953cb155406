import { positionalEncoding } from './positional-encoding';

test('the position code matches the reference network', () => {
  const code = positionalEncoding(50, 384);
  const expected: [number, number, number][] = [
    [0, 0, 0],
    [0, 1, 1],
    [1, 0, 0.841471],
    [1, 1, 0.5403023],
    [1, 2, 0.8152506],
    [49, 0, -0.9537527],
    [49, 383, 0.9999868],
    [25, 100, 0.7645215],
  ];
  for (const [position, column, value] of expected) {
    expect(code[position * 384 + column]).toBeCloseTo(value, 6);
  }
});
