import { blankPicture } from './picture';
import { createCutDetector } from './shot-cuts';

describe('createCutDetector', () => {
  const flat = (value: number): ReturnType<typeof blankPicture> => {
    const picture = blankPicture(64, 64);
    picture.data.fill(value);
    return picture;
  };

  test('the first frame starts a shot, a repeated one does not, another scene does', () => {
    const isCut = createCutDetector();
    expect([flat(40), flat(40), flat(200), flat(200)].map(isCut)).toEqual([true, false, true, false]);
  });

  test('something an eighth of the picture wide that moves across it is no cut', () => {
    const isCut = createCutDetector();
    const pictures = [0, 1, 2, 3, 4, 5].map((step) => {
      const picture = flat(40);
      for (let y = 0; y < 64; y++)
        picture.data.fill(220, (y * 64 + step * 8) * 3, (y * 64 + step * 8 + 8) * 3);
      return picture;
    });
    expect(pictures.map(isCut).slice(1)).not.toContain(true);
  });
});
