import { constantClock, endOf, framesOf, type Rational, secondsAt } from '@lipsync/domain';
import { ClipClock, type ClipFrames } from './clip-clock';

const MILLISECONDS = { num: 1, den: 1000 };
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The frames of a whole clip whose pictures have these times in units of the time base. */
function clipOf(
  times: readonly number[],
  options: { timeBase?: Rational; rate?: Rational; videoSeconds?: number } = {},
): ClipFrames {
  const clock = new ClipClock(options.timeBase ?? MILLISECONDS, options.rate ?? null);
  expect(times.every((time) => clock.add(time))).toBe(true);
  clock.end(options.videoSeconds);
  return clock.framesUpTo(clock.length);
}

const stepsOf = ({ clock }: ClipFrames): number[] =>
  [...clock.ticks.subarray(1)].map((tick, frame) => tick - (clock.ticks[frame] ?? 0));
const heldIn = ({ held }: ClipFrames): number => held.reduce((sum, isHeld) => sum + isHeld, 0);

describe('the clock of a constant rate', () => {
  test.each([
    [24_000, 1001],
    [24, 1],
    [25, 1],
    [30_000, 1001],
    [30, 1],
    [50, 1],
    [60_000, 1001],
    [60, 1],
    [12, 1],
  ])('is exactly %i/%i per second out of milliseconds, from any first time on', (num, den) => {
    const times = upTo(1000).map((n) => Math.round(1_234_567.4 + (n * 1000 * den) / num));
    const { clock, held } = clipOf(times, { rate: { num, den } });
    expect(clock).toEqual(constantClock({ num, den }, 1000));
    expect(held).toEqual(new Uint8Array(1000));
  });

  test('is exact in a time base that is as coarse as the steps, and in one finer than any clock', () => {
    const rate = { num: 25, den: 1 };
    expect(clipOf(upTo(50), { rate, timeBase: { num: 1, den: 25 } }).clock).toEqual(constantClock(rate, 50));
    const times = upTo(50).map((n) => n * 400_000);
    const { clock } = clipOf(times, { timeBase: { num: 1, den: 10_000_000 } });
    expect(clock).toEqual({ timescale: 1_000_000, ticks: Uint32Array.from(upTo(51), (n) => n * 40_000) });
  });

  test('is not taken for one of which two pictures would appear at once', () => {
    const times = [0, 4, 8, 12, 17, 21, 24, 26, 29];
    const options = { rate: { num: 60, den: 1 }, timeBase: { num: 1, den: 250 } };
    expect([...clipOf(times, options).clock.ticks]).toEqual([...times, 33]);
  });

  test('keeps to the rate over pictures that are missing', () => {
    const shown = upTo(100).filter((n) => n % 7 !== 3);
    const { clock } = clipOf(
      shown.map((n) => Math.round((n * 1000) / 30)),
      { rate: { num: 30, den: 1 } },
    );
    expect([...clock.ticks]).toEqual([...shown, 100]);
  });

  test('is that of the claim divided where only every second or fourth picture is shown', () => {
    for (const [rate, every] of [
      [120, 2],
      [240, 4],
    ] as const) {
      const times = upTo(60).map((n) => Math.round((n * every * 1000) / rate));
      const { clock } = clipOf(times, { rate: { num: rate, den: 1 } });
      expect(clock.timescale / (stepsOf({ clock, held: new Uint8Array() })[0] ?? 0)).toBe(60);
      expect(endOf(clock)).toBe(1);
    }
  });

  test('ends with a whole step, though the container ends it a little later', () => {
    const times = upTo(30).map((n) => n * 512);
    const rate = { num: 30, den: 1 };
    const { clock } = clipOf(times, { timeBase: { num: 1, den: 15_360 }, rate, videoSeconds: 1.004 });
    expect(clock).toEqual(constantClock(rate, 30));
  });
});

describe('the clock of a variable rate', () => {
  test('has the times of the file, whatever rate is claimed', () => {
    const times = upTo(50).map((n) => n * 33 + (n % 5) * 3);
    for (const rate of [undefined, { num: 30, den: 1 }]) {
      const { clock } = clipOf(times, rate && { rate });
      expect(clock.timescale).toBe(1000);
      expect([...clock.ticks.subarray(0, 50)]).toEqual(times);
    }
  });

  test('follows a rate that changes midway', () => {
    const times = [...upTo(100).map((n) => n * 3000), ...upTo(100).map((n) => 300_000 + n * 1500)];
    const clip = clipOf(times, { timeBase: { num: 1, den: 90_000 }, rate: { num: 40, den: 1 } });
    expect(clip.clock.timescale).toBe(90_000);
    expect([...clip.clock.ticks.subarray(0, 200)]).toEqual(times);
    expect(endOf(clip.clock)).toBeCloseTo(5, 1);
  });

  test('counts from the first picture, also in a time base that is no fraction of a second', () => {
    const { clock } = clipOf([7, 8, 10], { timeBase: { num: 1001, den: 30_000 } });
    expect(clock).toEqual({ timescale: 30_000, ticks: Uint32Array.of(0, 1001, 3003, 5005) });
  });
});

describe('a picture that stays on screen', () => {
  test('for up to a tenth of a second is one frame', () => {
    expect(stepsOf(clipOf([0, 83, 167, 250]))).toEqual([83, 84, 83, 83]);
    expect(heldIn(clipOf([0, 100, 200, 300]))).toBe(0);
  });

  test('for longer is as many equally long frames as last no more than 1/25 s', () => {
    const clip = clipOf([0, 40, 150, 190]);
    expect([...clip.held]).toEqual([0, 0, 1, 1, 0, 0]);
    const seconds = stepsOf(clip).map((step) => step / clip.clock.timescale);
    for (const [frame, length] of [0.04, 0.11 / 3, 0.11 / 3, 0.11 / 3, 0.04, 0.04].entries())
      expect(seconds[frame]).toBeCloseTo(length, 3);
  });

  test.each([
    ['milliseconds', MILLISECONDS, [0, 1000, 2000]],
    ['whole seconds', { num: 1, den: 1 }, [5, 6, 7]],
  ])('for a second each is 25 frames of 1/25 s, in a time base of %s', (_, timeBase, times) => {
    const clip = clipOf(times, { timeBase, rate: { num: 1, den: 1 } });
    expect(framesOf(clip.clock)).toBe(75);
    expect(heldIn(clip)).toBe(72);
    for (let frame = 0; frame <= 75; frame += 1) expect(secondsAt(clip.clock, frame)).toBe(frame / 25);
  });

  test('through a gap does not move the pictures behind it', () => {
    const rate = { num: 30_000, den: 1001 };
    const shown = [...upTo(10), ...upTo(10).map((n) => n + 70)];
    const clip = clipOf(
      shown.map((n) => n * 1001),
      { timeBase: { num: 1, den: 30_000 }, rate },
    );
    const own = [...clip.held.keys()].filter((frame) => clip.held[frame] === 0);
    expect(own.map((frame) => clip.clock.ticks[frame])).toEqual(shown.map((n) => n * 1001));
    expect(Math.max(...stepsOf(clip))).toBeLessThanOrEqual(1200);
  });

  test('at the end stays until the container says that the video ends', () => {
    const clip = clipOf([0, 40, 80], { videoSeconds: 1.08 });
    expect(endOf(clip.clock)).toBe(1.08);
    expect(framesOf(clip.clock)).toBe(2 + 25);
    expect(endOf(clipOf([0, 40, 80], { videoSeconds: 0.01 }).clock)).toBe(0.12);
  });

  test('alone stays as long as the container says, or for one step of its rate', () => {
    expect(framesOf(clipOf([700], { videoSeconds: 3 }).clock)).toBe(75);
    expect(endOf(clipOf([700], { rate: { num: 50, den: 1 } }).clock)).toBe(0.02);
    expect(endOf(clipOf([700]).clock)).toBe(0.04);
  });
});

test('times farther off than any video lasts are refused, and a video that claims to be longer ends', () => {
  const clock = new ClipClock(MILLISECONDS, null);
  expect(clock.add(0)).toBe(true);
  expect(clock.add(40)).toBe(true);
  expect(clock.add(1e12)).toBe(false);
  clock.end(1e12);
  expect(endOf(clock.framesUpTo(clock.length).clock)).toBe(302);
});

test('the first frames of a clip that goes on have the times of the whole', () => {
  const clock = new ClipClock(MILLISECONDS, { num: 30, den: 1 });
  for (const time of [0, 33, 67, 100, 133]) clock.add(time);
  expect(clock.length).toBe(4);
  expect(clock.secondsAt(4)).toBe(0.133);
  expect(clock.framesUpTo(3).clock).toEqual(constantClock({ num: 30, den: 1 }, 3));
  expect(clock.framesUpTo(4).clock).toEqual(constantClock({ num: 30, den: 1 }, 4));
});
