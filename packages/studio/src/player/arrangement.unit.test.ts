import { arrange, NAME_HEIGHT } from './arrangement';

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
    const { columns, height } = arrange(count, ratio, page);
    const rows = Math.ceil(count / columns);
    // With the player at the top of the window, if not at once.
    expect(page.bar + rows * (height + NAME_HEIGHT) + page.foot).toBeLessThanOrEqual(page.window);
    expect(columns * height * ratio).toBeLessThanOrEqual(page.width);
    expect(height).toBeGreaterThan(48);
  });

  const page = { width: 1230, window: 720, above: 226, bar: 57, foot: 144 };

  it('are as large as they can be without scrolling', () => {
    expect(arrange(4, 16 / 9, page)).toEqual({ columns: 4, height: 172 });
    expect(arrange(4, 16 / 9, { ...page, window: 900 })).toEqual({ columns: 2, height: 220 });
    expect(arrange(4, 9 / 16, page)).toEqual({ columns: 4, height: 300 });
    expect(arrange(3, 2.56, { ...page, window: 1400 })).toMatchObject({ columns: 1 });
  });

  it('are larger than the page shows at once where much is above them', () => {
    expect(arrange(2, 1, { ...page, above: 420 })).toEqual({ columns: 2, height: 481 });
    // Here the width is what limits them.
    const phone = { width: 286, window: 568, above: 300, bar: 47, foot: 118 };
    expect(arrange(2, 16 / 9, phone)).toEqual({ columns: 1, height: 160 });
  });

  it('are never so narrow that their names cannot be read, nor too low to be seen', () => {
    expect(arrange(4, 9 / 16, { ...page, width: 356 }).columns).toBe(2);
    expect(arrange(2, 1, { ...page, width: 200 }).columns).toBe(1);
    expect(arrange(4, 1, { ...page, width: 286, window: 256 }).height).toBe(48);
  });
});
