import { arrange, heightLeft, NAME_HEIGHT } from './arrangement';

/** Windows, and how high the page is above the pictures there, the player's bar, and its foot. */
const WINDOWS = [
  { name: 'a desktop', width: 1390, window: 900, above: 226, bar: 57, foot: 144 },
  { name: 'a laptop', width: 1230, window: 720, above: 226, bar: 57, foot: 144 },
  { name: 'a netbook', width: 974, window: 600, above: 200, bar: 47, foot: 118 },
  { name: 'a phone', width: 356, window: 844, above: 230, bar: 53, foot: 118 },
  { name: 'a small phone', width: 286, window: 568, above: 240, bar: 47, foot: 118 },
];
const SHAPES = { portrait: 9 / 16, square: 1, wide: 16 / 9, 'very wide': 2.56 };
const CASES = WINDOWS.flatMap((page) =>
  Object.entries(SHAPES).flatMap(([shape, ratio]) =>
    [1, 2, 3, 4].map((count) => [page.name, shape, count, page, ratio] as const),
  ),
);

describe('pictures beside each other', () => {
  it.each(CASES)('on %s leave room for the transport: %s, %d', (_window, _shape, count, page, ratio) => {
    const left = heightLeft(page);
    const { columns, height } = arrange(count, ratio, { width: page.width, height: left });
    const rows = Math.ceil(count / columns);
    expect(rows * (height + NAME_HEIGHT)).toBeLessThanOrEqual(left);
    // With the player at the top of the window, if not at once.
    expect(page.bar + left + page.foot).toBeLessThanOrEqual(page.window);
    expect(columns * height * ratio).toBeLessThanOrEqual(page.width);
    expect(height).toBeGreaterThan(60);
  });

  it('are as large as they can be', () => {
    const room = { width: 1230, height: 500 };
    expect(arrange(4, 16 / 9, room)).toMatchObject({ columns: 2, height: 211 });
    expect(arrange(4, 9 / 16, room)).toMatchObject({ columns: 4, height: 462 });
    expect(arrange(3, 2.56, { ...room, height: 900 })).toMatchObject({ columns: 1 });
  });

  it('are never so narrow that their names cannot be read', () => {
    expect(arrange(4, 9 / 16, { width: 356, height: 470 }).columns).toBe(2);
    expect(arrange(2, 1, { width: 200, height: 470 }).columns).toBe(1);
  });
});
