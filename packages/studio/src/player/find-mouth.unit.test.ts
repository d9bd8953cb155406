import { findMouth, type Picture } from './find-mouth';

const WIDTH = 80;
const HEIGHT = 40;

function picture(paint: (x: number, y: number) => number): Picture {
  const data = new Uint8ClampedArray(WIDTH * HEIGHT * 4);
  for (let i = 0; i < WIDTH * HEIGHT; i++)
    data.fill(paint(i % WIDTH, Math.floor(i / WIDTH)), i * 4, i * 4 + 3);
  return { width: WIDTH, height: HEIGHT, data };
}

const plain = picture(() => 100);
const isMouth = (x: number, y: number) => x >= 32 && x < 48 && y >= 24 && y < 32;

describe('where an engine has drawn', () => {
  it('is found among the noise of an encoder and single sparks', () => {
    const drawn = picture((x, y) => (isMouth(x, y) ? 180 : x === 0 && y === 0 ? 255 : 100 + ((x + y) % 3)));
    expect(findMouth([[plain, drawn]])).toEqual({ x: 0.4, y: 0.6, width: 0.2, height: 0.2 });
  });

  it('is nowhere if nothing was changed', () => {
    expect(findMouth([[plain, plain]])).toBeNull();
    expect(findMouth([])).toBeNull();
  });
});
