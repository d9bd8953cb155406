import {
  constantClock,
  endOf,
  exactRate,
  frameAt,
  framesOf,
  middleOf,
  secondsAt,
  usualRate,
  usualStep,
} from './clock';

const ntsc = constantClock({ num: 30_000, den: 1001 }, 9000);
/** A picture, a gap, and two quick ones. */
const uneven = { timescale: 1000, ticks: Uint32Array.of(0, 33, 133, 166, 199) };

describe('a clock', () => {
  it('keeps television’s rates exactly over five minutes', () => {
    expect(framesOf(ntsc)).toBe(9000);
    expect(endOf(ntsc)).toBe((9000 * 1001) / 30_000);
    expect(usualRate(ntsc)).toBe(30_000 / 1001);
  });

  it('shows a frame from its own second up to the next one’s', () => {
    for (const clock of [ntsc, uneven, constantClock({ num: 25, den: 1 }, 7500)]) {
      for (let frame = 0; frame < framesOf(clock); frame++) {
        expect(frameAt(clock, secondsAt(clock, frame))).toBe(frame);
        expect(frameAt(clock, middleOf(clock, frame))).toBe(frame);
      }
    }
  });

  it('shows the first frame before its time, and the last one after it', () => {
    expect(frameAt(uneven, -1)).toBe(0);
    expect(frameAt(uneven, 10)).toBe(3);
  });

  it('takes its usual step from most frames, whatever the others do', () => {
    expect(usualStep(uneven)).toBe(33);
  });
});

describe('a rounded rate', () => {
  it.each([
    [23.976, 24_000, 1001],
    [23.98, 24_000, 1001],
    [24, 24, 1],
    [29.97, 30_000, 1001],
    [30, 30, 1],
    [59.94, 60_000, 1001],
    [59.9, 59_900, 1000],
    [12.5, 12_500, 1000],
  ])('of %f stands for %i/%i', (fps, num, den) => {
    expect(exactRate(fps)).toEqual({ num, den });
  });
});
