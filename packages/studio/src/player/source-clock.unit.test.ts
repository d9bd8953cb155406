import { SYNC_MODES } from '@lipsync/contract';
import { constantClock, framesOf, middleOf, secondsAt, timelineOf } from '@lipsync/domain';
import fc from 'fast-check';
import { clockOf, frameShown, sourcePosition, type SourceTimeline, sourceTimeline } from './source-clock';

const RATES = [
  { num: 24_000, den: 1001 },
  { num: 25, den: 1 },
  { num: 60_000, den: 1001 },
];
const lengths = fc.record({
  mode: fc.constantFrom(...SYNC_MODES),
  rate: fc.constantFrom(...RATES),
  videoFrames: fc.integer({ min: 1, max: 400 }),
  voiceSeconds: fc.double({ min: 0.01, max: 16, noNaN: true }),
});

/** Ten frames of the source beside twenty of the output. */
const timeline = (mode: SourceTimeline['mode']): SourceTimeline => {
  const output = constantClock({ num: 25, den: 1 }, mode === 'cut_off' ? 10 : 20);
  return sourceTimeline(mode, output, { videoSeconds: 0.4, voiceSeconds: 0.8 });
};

describe('the source beside an output', () => {
  it('shows the frame that the service took, at every frame of every mode and rate', () => {
    fc.assert(
      fc.property(lengths, ({ mode, rate, videoFrames, voiceSeconds }) => {
        const video = constantClock(rate, videoFrames);
        const { sources, clock } = timelineOf(mode, video, voiceSeconds);
        // What the service says of it, to the millisecond.
        const seconds = (frames: number): number =>
          Math.round(((frames * rate.den) / rate.num) * 1000) / 1000;
        const output = clockOf(secondsAt(clock, framesOf(clock)), framesOf(clock));
        const beside = sourceTimeline(mode, output, { videoSeconds: seconds(videoFrames), voiceSeconds });
        expect(sources.map((_, index) => sourcePosition(beside, index).frame)).toEqual(sources);
      }),
    );
  });

  it.each([
    ['cut_off', 3, 1],
    ['silence', 3, 1],
    ['silence', 12, 0],
    ['loop', 9, 1],
    ['bounce', 3, 1],
    ['bounce', 12, -1],
    ['remap', 3, 0.5],
  ] as const)('%s moves at output frame %d at %d times the speed of the film', (mode, index, rate) => {
    expect(sourcePosition(timeline(mode), index).rate).toBe(rate);
  });

  it('stays inside the source when its length was measured a frame too short', () => {
    expect(sourcePosition(timeline('cut_off'), 12).frame).toBe(9);
  });
});

describe('frames and seconds', () => {
  it('a seek to a frame or its middle finds that frame, also when the browser returns whole microseconds', () => {
    for (const rate of RATES) {
      const clock = constantClock(rate, 7500);
      for (let frame = 0; frame < 7500; frame++)
        for (const seconds of [secondsAt(clock, frame), middleOf(clock, frame)])
          expect(frameShown(clock, Math.floor(seconds * 1e6) / 1e6)).toBe(frame);
    }
  });

  it('has the exact rate of a result, whose length is rounded to milliseconds', () => {
    expect(clockOf(20.02, 600)).toEqual(constantClock({ num: 30_000, den: 1001 }, 600));
    expect(framesOf(clockOf(0.01))).toBe(1);
  });
});
