import { fillGaps } from './fill-gaps';

const face = (x: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => (i % 2 === 0 ? x + i : 100 + i));

describe('fillGaps', () => {
  const none: boolean[] = [];

  test('up to five missing frames are interpolated, six are left', () => {
    const five = [face(0), null, null, null, null, null, face(60)];
    fillGaps(five, none);
    expect(five[2]).toEqual(face(20));
    const six = [face(0), null, null, null, null, null, null, face(60)];
    fillGaps(six, none);
    expect(six.slice(1, 7)).toEqual([null, null, null, null, null, null]);
  });

  test('a gap that holds a cut, or has no face on one side, is left', () => {
    const cut = [face(0), null, null, face(60)];
    fillGaps(cut, [true, false, true, false]);
    expect(cut[1]).toBeNull();
    const open = [null, face(0), null];
    fillGaps(open, none);
    expect([open[0], open[2]]).toEqual([null, null]);
  });
});
