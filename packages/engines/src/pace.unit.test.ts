import { type Clock, constantClock, middleOf } from '@lipsync/domain';
import fc from 'fast-check';
import { type Run } from './face/smoothing';
import { choosePace, generatedInPlayback, type Pace } from './pace';
import { upTo } from './test/clips';

const STRIDE = { rates: [24, 30], together: 16 } as const;

const at = (fps: number, frames: number): Clock =>
  constantClock({ num: Math.round(fps * 1001), den: 1001 }, frames);
/** A clock whose frames last this many milliseconds each. */
const lasting = (...ms: number[]): Clock => ({
  timescale: 1000,
  ticks: Uint32Array.from([0, ...ms].map((_, i) => ms.slice(0, i).reduce((sum, one) => sum + one, 0))),
});

function paceOf(
  clock: Clock,
  runs?: readonly Run[],
  stride: Parameters<typeof choosePace>[2] = STRIDE,
): Pace {
  const frames = clock.ticks.length - 1;
  return choosePace({ sources: upTo(frames), clock }, runs ?? [{ start: 0, end: frames }], stride);
}

const outputsOf = ({ instants }: Pace): number[] => instants.map(({ output }) => output);
const stepsOf = ({ instants }: Pace): number[] =>
  instants.slice(1).map(({ seconds }, i) => seconds - (instants[i]?.seconds ?? NaN));

test.each([23.976, 24, 25, 29.97, 30])('at %d fps every frame is an instant of its own', (fps) => {
  const clock = at(fps, 40);
  const { instants, runs, places } = paceOf(clock);
  expect(instants).toEqual(
    upTo(40).map((output) => ({ output, source: output, seconds: middleOf(clock, output), shown: true })),
  );
  expect([...places]).toEqual(upTo(40));
  expect(runs).toEqual([{ start: 0, end: 40 }]);
});

test.each([48, 50, 59.94, 60])('at %d fps every second frame is one, and the last', (fps) => {
  const pace = paceOf(at(fps, 8));
  expect(outputsOf(pace)).toEqual([0, 2, 4, 6, 7]);
  [...pace.places].forEach((place, output) => expect(place).toBeCloseTo(output === 7 ? 4 : output / 2, 6));
});

test('between 30 and 48 fps, where every second one would be too far, every frame is one', () => {
  expect(outputsOf(paceOf(at(40, 6)))).toEqual(upTo(6));
});

test.each([
  [12, 2],
  [15, 2],
  [20, 2],
  [10.5, 3],
])('at %d fps there are %d instants per frame, which see the picture of the frame to come', (fps, parts) => {
  const pace = paceOf(at(fps, 4));
  expect(outputsOf(pace)).toEqual([0, ...[1, 2, 3].flatMap((output) => Array<number>(parts).fill(output))]);
  for (const step of stepsOf(pace)) expect(step).toBeCloseTo(1 / fps / parts, 3);
  expect([...pace.places]).toEqual(upTo(4).map((output) => output * parts));
  expect(pace.instants.filter(({ shown }) => shown)).toHaveLength(4);
});

test('there are never more instants for a frame than one batch takes', () => {
  expect(outputsOf(paceOf(at(12, 4), undefined, { ...STRIDE, together: 1 }))).toEqual(upTo(4));
});

test('a variable clock is followed by time, and frames between two instants show their shares of it', () => {
  // The middles lie at 10, 30, 50, 80, 115, 155, 205 and 235 ms.
  const pace = paceOf(lasting(20, 20, 20, 40, 30, 50, 50, 10));
  expect(outputsOf(pace)).toEqual([0, 2, 3, 4, 5, 6, 6, 7]);
  expect([...pace.places]).toEqual(
    [0, 0.5, 1, 2, 3, 4, 6, 7].map((place) => expect.closeTo(place, 6) as unknown),
  );
});

test('runs begin and end with an instant, and nothing is mixed across their borders', () => {
  const pace = paceOf(at(60, 12), [
    { start: 1, end: 5 },
    { start: 5, end: 6 },
    { start: 8, end: 11 },
  ]);
  expect(outputsOf(pace)).toEqual([1, 3, 4, 5, 8, 10]);
  expect(pace.runs).toEqual([
    { start: 0, end: 3 },
    { start: 3, end: 4 },
    { start: 4, end: 6 },
  ]);
  const places = [-1, 0, 0.5, 1, 2, 3, -1, -1, 4, 4.5, 5, -1];
  expect([...pace.places]).toEqual(places.map((place) => expect.closeTo(place, 6) as unknown));
});

test('a pack may state other rates', () => {
  const half = (rates: readonly [number, number]) =>
    outputsOf(paceOf(at(25, 5), undefined, { rates, together: 16 }));
  expect(half([10, 13])).toEqual([0, 2, 4]);
  expect(half([45, 55])).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4]);
});

test('every frame of a run shows one instant or two neighbors, and steps are as the network knows them if they can be', () => {
  const clocks = fc.array(fc.integer({ min: 15, max: 100 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(clocks, (ms) => {
      const pace = paceOf(lasting(...ms));
      const [last = NaN] = pace.instants.slice(-1).map(({ output }) => output);
      expect([pace.instants[0]?.output, last]).toEqual([0, ms.length - 1]);
      expect(Math.max(0, ...stepsOf(pace))).toBeLessThan((1 / 24) * 1.051);
      [...pace.places].forEach((place, i) => {
        expect(place).toBeGreaterThan(pace.places[i - 1] ?? -1);
        const [from, to] = [pace.instants[Math.floor(place)], pace.instants[Math.ceil(place)]];
        const seconds = middleOf(lasting(...ms), i);
        const [start = NaN, end = NaN] = [from?.seconds, to?.seconds];
        expect(start + (place % 1) * (end - start)).toBeCloseTo(seconds, 9);
      });
    }),
  );
});

test('a preparation knows which frames a plain playback generates', () => {
  const runsOf = (sources: readonly number[]): Run[] => [{ start: 0, end: sources.length }];
  const generated = generatedInPlayback({ frames: 6, clock: at(50, 6) }, runsOf, STRIDE);
  expect([...generated]).toEqual([0, 2, 4, 5]);
});
