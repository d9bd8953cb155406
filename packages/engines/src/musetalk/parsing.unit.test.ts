import { type Box, HALF_MASK_VALUES, MASK_SIZE, type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { createCropForParsing, createParsedMask, PARSING_SIDE, parsingSquare } from './parsing';

describe('parsing square', () => {
  const format: PictureFormat = {
    width: 96,
    height: 80,
    matrix: 'bt709',
    range: 'full',
    depth: 8,
    transfer: 'sdr',
  };
  const layout = pictureLayout(format);
  const AREA = PARSING_SIDE * PARSING_SIDE;

  test('the square is centered on the face and half as large again', () => {
    expect(parsingSquare({ x1: 10, y1: 20, x2: 30, y2: 60 })).toEqual({ x1: -10, y1: 10, x2: 50, y2: 70 });
  });

  const cornerFace: Box = { x1: 56, y1: 40, x2: 96, y2: 80 };

  /** The parser's input for a gray picture around a face in its lower right corner, from index 2 of the array. */
  function gray(level: number, face = cornerFace): (x: number, y: number) => number[] {
    const picture = new Uint8Array(layout.bytes).fill(level, 0, layout.uOffset).fill(128, layout.uOffset);
    const target = new Float32Array(3 * AREA + 4).fill(99);
    createCropForParsing(format)(picture, face, target, 2);
    expect([target[0], target[1], target.at(-2), target.at(-1)]).toEqual([99, 99, 99, 99]);
    return (x, y) => [0, 1, 2].map((channel) => target[2 + channel * AREA + y * PARSING_SIDE + x] ?? NaN);
  }

  const expectColors = (seen: readonly number[], wanted: readonly number[]): void =>
    seen.forEach((value, i) => expect(value).toBeCloseTo(wanted[i] ?? NaN, 3));

  test('white and black have the values of ImageNet’s normalization', () => {
    expectColors(gray(255)(100, 100), [0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225]);
    expectColors(gray(0)(100, 100), [-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225]);
  });

  test('outside the picture is black, not a repeated edge', () => {
    // The square extends from 46 to 106 and from 30 to 90: its last sixth is outside on both axes.
    const seen = gray(255);
    const black = [-0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225];
    const white = [0.515 / 0.229, 0.544 / 0.224, 0.594 / 0.225];
    for (const [x, y] of [
      [426, 426],
      [0, 426],
      [426, 0],
    ] as const) {
      expectColors(seen(x, y), white);
    }
    for (const [x, y] of [
      [427, 100],
      [100, 427],
      [511, 511],
    ] as const) {
      expectColors(seen(x, y), black);
    }
  });

  test('a pixel at the border of the picture counts as inside if its center is', () => {
    // One pixel further to the right than above: the picture ends at 418.13 of 512.
    const seen = gray(255, { ...cornerFace, x1: 57, x2: 97 });
    expect(seen(417, 100)[0]).toBeGreaterThan(0);
    expect(seen(418, 100)[0]).toBeLessThan(0);
  });

  test('a face outside the picture gives a black square', () => {
    const picture = new Uint8Array(layout.bytes).fill(200);
    const target = new Float32Array(3 * AREA);
    createCropForParsing(format)(picture, { x1: 300, y1: 300, x2: 340, y2: 340 }, target, 0);
    const [black] = target;
    expect(target.subarray(0, AREA).every((value) => value === black)).toBe(true);
  });
});

describe('parsed mask', () => {
  const SIDE = 512;
  /** The box is square, so the parsed square is 150 wide and begins 25 to the left and above. */
  const face = { x1: 100, y1: 40, x2: 200, y2: 140 };

  const classes = (nameAt: (x: number, y: number) => number): Uint8Array =>
    Uint8Array.from({ length: SIDE * SIDE }, (_, i) => nameAt(i % SIDE, Math.floor(i / SIDE)));

  function halfOf(nameAt: (x: number, y: number) => number, box = face): (x: number, y: number) => number {
    const half = new Float32Array(HALF_MASK_VALUES + 1).fill(9);
    createParsedMask({ mode: 'raw', leftCheek: 90, rightCheek: 90 })(classes(nameAt), box, half, 1);
    expect(half[0]).toBe(9);
    return (x, y) => half[1 + y * MASK_SIZE + x] ?? NaN;
  }

  test('the lower half of the face box is cut out of the parsed square', () => {
    // In the square the box extends from 85.3 to 426.7 on both axes. Skin fills its right half and everything above its
    // middle.
    const at = halfOf((x, y) => (x >= 256 || y < 256 ? 1 : 0));
    for (const y of [0, 31, 63]) {
      [0, 63, 64, 127].forEach((x) => expect(at(x, y)).toBeCloseTo(x < 64 ? 0 : 1));
    }
  });

  test('a cell at an edge gets the fraction of its area that is face', () => {
    // A cell is 2.667 wide: of the cell from 256 to 258.667, 1 in 2.667 is outside.
    const at = halfOf((x) => (x >= 257 ? 1 : 0));
    expect(at(64, 10)).toBeCloseTo(1.6667 / 2.6667, 3);
  });

  test('a narrow face fills the grid from edge to edge', () => {
    const narrow = { x1: 125, y1: 40, x2: 175, y2: 140 };
    // Half as wide as high: from 170.7 to 341.3 of the square.
    const at = halfOf((x) => (x >= 171 && x <= 340 ? 1 : 0), narrow);
    expect(at(1, 20)).toBeCloseTo(1);
    expect(at(126, 20)).toBeCloseTo(1);
    expect(at(0, 20)).toBeGreaterThan(0.5);
  });
});
