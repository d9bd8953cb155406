import { latentsyncPixels } from '../test/golden-pixels';
import { inpaintMask, latentKeepMask, softMask } from './mask';

/** The mask that LatentSync publishes. */
const { mask: published } = latentsyncPixels();

describe('inpaint mask', () => {
  /** Generated columns in a row of the latent, as inclusive runs. */
  function generatedRuns(keep: Float32Array, width: number, row: number): string[] {
    const runs: string[] = [];
    let first = -1;
    for (let column = 0; column <= width; column++) {
      const generated = column < width && (keep[row * width + column] ?? 1) < 0.5;
      if (generated && first < 0) first = column;
      if (!generated && first >= 0) runs.push(`${first}-${column - 1}`);
      if (!generated) first = -1;
    }
    return runs;
  }

  describe('at its own size', () => {
    const mask = inpaintMask(published, 256);

    test('the mask consists of the spans, and covers 40.7 % of the face', () => {
      expect([mask[94 * 256 + 20], mask[95 * 256 + 9], mask[95 * 256 + 77], mask[95 * 256 + 78]]).toEqual([
        0, 1, 1, 0,
      ]);
      expect([mask[134 * 256 + 247], mask[134 * 256 + 248], mask[243 * 256 + 140]]).toEqual([1, 0, 0]);
      const share = mask.reduce((sum, value) => sum + value, 0) / mask.length;
      expect(share).toBeCloseTo(0.407, 2);
    });

    test('the latent mask has the published cells, 0 where the face is generated', () => {
      const keep = latentKeepMask(mask, 256, { height: 32, width: 32 });
      const rows: Record<number, string[]> = {
        11: [],
        12: ['2-9', '23-30'],
        15: ['2-9', '23-30'],
        16: ['2-30'],
        22: ['2-30'],
        23: ['3-29'],
        24: ['4-28'],
        25: ['5-27'],
        26: ['5-27'],
        27: ['7-25'],
        28: ['8-24'],
        29: ['10-22'],
        30: ['13-20'],
        31: [],
      };
      for (const [row, runs] of Object.entries(rows)) {
        expect([row, generatedRuns(keep, 32, Number(row))]).toEqual([row, runs]);
      }
    });
  });

  describe('at 512 pixels', () => {
    const mask = inpaintMask(published, 512);

    test('the latent mask has the published cells', () => {
      const keep = latentKeepMask(mask, 512, { height: 64, width: 64 });
      const rows: Record<number, string[]> = {
        23: [],
        24: ['3-19', '45-61'],
        31: ['3-19', '45-61'],
        32: ['3-61'],
        42: ['3-61'],
        56: ['16-49'],
        60: ['26-40'],
        61: [],
      };
      for (const [row, runs] of Object.entries(rows)) {
        expect([row, generatedRuns(keep, 64, Number(row))]).toEqual([row, runs]);
      }
    });
  });

  test('an enlarged border has the gray levels of Lanczos over four pixels', () => {
    const spans = Array.from({ length: 12 }, (_, row): [number, number, number] => [row, 6, 11]);
    const row = inpaintMask({ size: 12, spans }, 24).subarray(12 * 24, 13 * 24);
    const levels = Array.from(row.subarray(6, 18), (value) => Math.round(value * 255));
    // Normalized sums of sinc(x) · sinc(x / 4), calculated separately.
    expect(levels).toEqual([0, 7, 10, 0, 0, 56, 199, 255, 255, 245, 248, 255]);
  });
});

describe('soft mask', () => {
  const SIDE = 256;

  /** Generated: a block that extends close to the sides of the box. */
  const block = inpaintMask(
    { size: SIDE, spans: Array.from({ length: 130 }, (_, i): [number, number, number] => [100 + i, 3, 250]) },
    SIDE,
  );

  const at = (mask: Float32Array, row: number, column: number): number => mask[row * SIDE + column] ?? NaN;

  test('nothing outside the generated part has any weight', () => {
    const mask = softMask(block, SIDE);
    expect(mask.filter((weight, i) => weight !== 0 && block[i] !== 1)).toHaveLength(0);
  });

  test('the middle of the generated part is fully shown, and its border fades', () => {
    const mask = softMask(block, SIDE);
    expect(at(mask, 165, 128)).toBeCloseTo(1, 5);
    expect(at(mask, 101, 128)).toBeLessThan(0.1);
    expect(at(mask, 104, 128)).toBeGreaterThan(0.3);
    expect(at(mask, 104, 128)).toBeLessThan(0.7);
    for (let row = 100; row < 120; row++) {
      expect(at(mask, row + 1, 128)).toBeGreaterThanOrEqual(at(mask, row, 128));
      expect(at(mask, row + 1, 128) - at(mask, row, 128)).toBeLessThan(0.35);
    }
  });

  test('the sides of the box fade as published: to half at a twentieth of its size', () => {
    const mask = softMask(new Float32Array(SIDE * SIDE).fill(1), SIDE);
    // ⌊√(210·280)⌋ / 20 = 12 of 210 pixels across, of 280 down; blurred with a kernel of 25.
    const across = (12 * SIDE) / 210;
    const down = (12 * SIDE) / 280;
    expect(at(mask, 128, Math.round(across))).toBeGreaterThan(0.4);
    expect(at(mask, 128, Math.round(across) - 1)).toBeLessThan(0.6);
    expect(at(mask, Math.round(down), 128)).toBeGreaterThan(0.4);
    expect(at(mask, Math.round(down) - 1, 128)).toBeLessThan(0.6);
    expect(at(mask, 128, 0)).toBe(0);
    expect(at(mask, 128, Math.ceil(2 * across))).toBeCloseTo(1, 2);
  });

  test('a crop too small for a soft box has none and stays usable', () => {
    const mask = softMask(new Float32Array(16 * 16).fill(1), 16);
    expect(mask.every((weight) => weight === 1)).toBe(true);
  });
});
