import { type Box } from '@lipsync/kernels';
import { blankPicture } from './face-detector';
import { createCutDetector } from './shot-cuts';

describe('createCutDetector', () => {
  const flat = (value: number): ReturnType<typeof blankPicture> => {
    const picture = blankPicture(64, 64);
    picture.data.fill(value);
    return picture;
  };

  test('the first frame starts a shot, a repeated one does not, another scene does', () => {
    const newsOf = createCutDetector();
    expect([flat(40), flat(40), flat(200), flat(200)].map((picture) => newsOf(picture, null).shot)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test('something an eighth of the picture wide that moves across it is no cut', () => {
    const newsOf = createCutDetector();
    const pictures = [0, 1, 2, 3, 4, 5].map((step) => {
      const picture = flat(40);
      for (let y = 0; y < 64; y++)
        picture.data.fill(220, (y * 64 + step * 8) * 3, (y * 64 + step * 8 + 8) * 3);
      return picture;
    });
    expect(pictures.map((picture) => newsOf(picture, null).shot).slice(1)).not.toContain(true);
  });

  describe('where three quarters of the picture change', () => {
    /** Brightness rises from left to right, or the other way round, so every cell has a twin of equal brightness. */
    const shaded = (mirrored: boolean): ReturnType<typeof blankPicture> => {
      const picture = flat(0);
      picture.data.forEach((_, i) => {
        const x = Math.floor(i / 3) % 64;
        picture.data[i] = 4 * (mirrored && x >= 16 ? 79 - x : x);
      });
      return picture;
    };
    const isCutWith = (face: Box | null): boolean => {
      const newsOf = createCutDetector();
      newsOf(shaded(false), face);
      return newsOf(shaded(true), face).shot;
    };

    test('it is no cut for a face that has stayed as it was', () => {
      expect(isCutWith({ x1: 2, y1: 20, x2: 14, y2: 40 })).toBe(false);
    });

    test.each([
      ['nobody', null],
      ['a face that has changed with it', { x1: 20, y1: 20, x2: 32, y2: 40 }],
      ['a face outside the picture', { x1: -30, y1: 20, x2: -2, y2: 40 }],
    ])('it is a cut for %s', (_, face) => {
      expect(isCutWith(face)).toBe(true);
    });
  });

  test('within a shot it is news that a followed face has changed', () => {
    const newsOf = createCutDetector();
    const face = { x1: 8, y1: 8, x2: 24, y2: 24 };
    const bright = flat(40);
    for (let y = 8; y < 24; y++) bright.data.fill(80, (y * 64 + 8) * 3, (y * 64 + 24) * 3);
    expect(
      [flat(40), flat(40), bright, flat(40)].map((picture, i) => newsOf(picture, i < 3 ? face : null)),
    ).toEqual([
      { shot: true, face: false },
      { shot: false, face: false },
      { shot: false, face: true },
      { shot: false, face: false },
    ]);
  });
});
