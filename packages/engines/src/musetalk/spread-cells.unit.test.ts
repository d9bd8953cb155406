import { createSpreadCells, type ElementRow } from './spread-cells';

/** A map drawn with # for 1. */
const map = (...rows: string[]): Uint8Array => Uint8Array.from(rows.join(''), (cell) => Number(cell === '#'));
const drawn = (cells: Uint8Array, side: number): string[] =>
  Array.from({ length: side }, (_, row) =>
    [...cells.subarray(row * side, (row + 1) * side)].map((cell) => (cell === 1 ? '#' : '.')).join(''),
  );

function spread(cells: Uint8Array, value: 0 | 1, element: readonly ElementRow[]): string[] {
  const side = Math.sqrt(cells.length);
  const target = new Uint8Array(cells.length).fill(1);
  createSpreadCells(side)(cells, value, element, target);
  return drawn(target, side);
}

describe('spreadCells', () => {
  test('a cell grows to the mirrored shape of the element, cut at the edge of the map', () => {
    const cells = map('.....', '.....', '..#..', '.....', '#....');
    const element = [
      { dy: 0, reach: 0 },
      { dy: 1, reach: 1 },
    ];
    expect(spread(cells, 1, element)).toEqual(['.....', '.###.', '..#..', '##...', '#....']);
  });

  test('rows outside the element are not reached', () => {
    const cells = map('....', '....', '....', '.#..');
    expect(spread(cells, 1, [{ dy: 2, reach: 3 }])).toEqual(['....', '####', '....', '....']);
  });

  test('zeros spread likewise, and none enter from outside the map', () => {
    const cells = map('####', '####', '##.#', '####');
    expect(spread(cells, 0, [{ dy: 0, reach: 1 }])).toEqual(['....', '....', '.###', '....']);
  });

  test('an empty map stays empty, and a full one is full', () => {
    const element = [{ dy: 0, reach: 9 }];
    expect(spread(map('..', '..'), 1, element)).toEqual(['..', '..']);
    expect(spread(map('##', '##'), 1, element)).toEqual(['##', '##']);
  });
});
