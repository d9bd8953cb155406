import { createParsingMask, PARSING_REACH, type ParsingMaskSettings } from './parsing-mask';

describe('musetalk parsing mask', () => {
  const SIDE = 128;
  type Cell = readonly [x: number, y: number];

  const at = (x: number, y: number): number => y * SIDE + x;

  /** A map of background with cells and blocks of other classes. */
  function classes(...blocks: { from: Cell; to: Cell; name: number }[]): Uint8Array {
    const map = new Uint8Array(SIDE * SIDE);
    for (const { from, to, name } of blocks) {
      for (let y = from[1]; y <= to[1]; y++) map.fill(name, at(from[0], y), at(to[0], y) + 1);
    }
    return map;
  }

  function maskOf(map: Uint8Array, settings: Partial<ParsingMaskSettings>): Uint8Array {
    const mask = new Uint8Array(SIDE * SIDE).fill(7);
    const whole = { mode: 'jaw', leftCheek: 0, rightCheek: 0, ...settings } as const;
    createParsingMask(SIDE, whole)(map, mask);
    return mask;
  }

  /** First and last column that are set in a row; null if there is a hole, undefined if there are none. */
  function span(mask: Uint8Array, y: number): Cell | null | undefined {
    const row = [...mask.subarray(at(0, y), at(0, y) + SIDE)];
    const first = row.indexOf(1);
    const last = row.lastIndexOf(1);
    if (first < 0) return undefined;
    return row.slice(first, last + 1).every((cell) => cell === 1) ? [first, last] : null;
  }

  const eachClass = (): Uint8Array => {
    const map = new Uint8Array(SIDE * SIDE);
    for (let name = 0; name < 19; name++) map[name] = name;
    return map;
  };
  const kept = (mask: Uint8Array): number[] => [...mask.keys()].filter((i) => mask[i] === 1);

  describe('parsing mask', () => {
    test('raw keeps skin, both lips and the inside of the mouth; neck keeps the neck too', () => {
      expect(kept(maskOf(eachClass(), { mode: 'raw' }))).toEqual([1, 11, 12, 13]);
      expect(kept(maskOf(eachClass(), { mode: 'neck' }))).toEqual([1, 11, 12, 13, 14]);
    });

    test('jaw grows skin by 16 cells upwards, 10 to the sides and to a point 6 cells below', () => {
      const mask = maskOf(classes({ from: [60, 64], to: [60, 64], name: 1 }), {
        leftCheek: 64,
        rightCheek: 64,
      });
      expect([47, 48, 60, 61].map((y) => span(mask, y))).toEqual([undefined, [50, 70], [50, 70], [51, 69]]);
      expect([64, 65, 69, 70, 71].map((y) => span(mask, y))).toEqual([
        [54, 66],
        [55, 65],
        [59, 61],
        [60, 60],
        undefined,
      ]);
    });

    test('jaw erodes the sides of the face again by 34 cells, and two rows above and below', () => {
      // Grown: rows 44 to 86; columns 10 to 110 down to row 76, then narrower by one on each side per row.
      const mask = maskOf(classes({ from: [20, 60], to: [100, 80], name: 1 }), {});
      expect([45, 46, 76].map((y) => span(mask, y))).toEqual([undefined, [44, 76], [44, 76]]);
      expect([84, 85].map((y) => span(mask, y))).toEqual([[52, 68], undefined]);
    });

    test('jaw keeps the grown width in the middle between the cheeks', () => {
      const skin = classes({ from: [20, 60], to: [100, 80], name: 1 });
      const mask = maskOf(skin, { leftCheek: 30, rightCheek: 5 });
      // The middle is right of column 34 and left of column 69. Outside it, columns 44 to 76 are left.
      expect(span(mask, 60)).toEqual([35, 76]);
      expect(span(mask, 44)).toEqual([35, 68]);
    });

    test('jaw erodes what is beside the edge of the map without a gap', () => {
      // So much is without skin that the first cell of row 60 stays clear, and every other cell is grown over.
      const gap = Array.from({ length: 23 }, (_, i): { from: Cell; to: Cell; name: number } => ({
        from: [0, 54 + i],
        to: [Math.min(i, 10), 54 + i],
        name: 0,
      }));
      const mask = maskOf(classes({ from: [0, 0], to: [127, 127], name: 1 }, ...gap), {});
      expect([58, 59, 60].map((y) => span(mask, y))).toEqual([
        [1, 127],
        [18, 127],
        [35, 127],
      ]);
    });

    test('the edge of the map erodes nothing from a face that it cuts off', () => {
      const mask = maskOf(classes({ from: [0, 0], to: [127, 127], name: 1 }), {});
      expect(mask.every((cell) => cell === 1)).toBe(true);
    });

    // Row 40 is kept if rows 38 to 42 are grown, of which one is by the row of skin at its reach alone.
    test.each([
      { end: 'above', skin: [32, 55], missing: { above: 1, below: 0 } },
      { end: 'below', skin: [35, 58], missing: { above: 0, below: 1 } },
    ])(
      'a row comes out the same of the rows in its reach, and needs the last one $end',
      ({ skin, missing }) => {
        const map = classes(...skin.map((y) => ({ from: [10, y], to: [117, y], name: 1 }) as const));
        const rowOf = (above: number, below: number): Uint8Array => {
          const rows = map.subarray((40 - above) * SIDE, (41 + below) * SIDE);
          const mask = new Uint8Array(rows.length);
          createParsingMask(SIDE, { mode: 'jaw', leftCheek: 0, rightCheek: 0 })(rows, mask);
          return mask.subarray(above * SIDE, (above + 1) * SIDE);
        };
        const { above, below } = PARSING_REACH;
        const wanted = maskOf(map, {}).subarray(40 * SIDE, 41 * SIDE);
        expect(rowOf(above, below)).toEqual(wanted);
        expect(rowOf(above - missing.above, below - missing.below)).not.toEqual(wanted);
      },
    );

    test('jaw leaves the nose out, even where skin grows over it, and keeps lips that no skin reaches', () => {
      const mask = maskOf(
        classes(
          { from: [20, 60], to: [100, 80], name: 1 },
          { from: [60, 50], to: [64, 66], name: 10 },
          { from: [10, 110], to: [12, 110], name: 11 },
          { from: [13, 110], to: [14, 110], name: 12 },
          { from: [15, 110], to: [16, 110], name: 13 },
          { from: [50, 120], to: [60, 120], name: 14 },
        ),
        { leftCheek: 64, rightCheek: 64 },
      );
      expect(mask[at(62, 55)]).toBe(0);
      expect(mask[at(62, 65)]).toBe(0);
      expect(mask[at(59, 55)]).toBe(1);
      expect(span(mask, 110)).toEqual([10, 16]);
      expect(span(mask, 120)).toBeUndefined();
    });
  });
});
