import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import fc from 'fast-check';
import { type Clock, constantClock, endOf, framesOf, secondsAt, usualStep } from './clock';
import { LONGEST_FRAME_SECONDS, timelineOf, usedVideoSeconds } from './timeline';

const RATES = [
  { num: 24_000, den: 1001 },
  { num: 25, den: 1 },
  { num: 30_000, den: 1001 },
  { num: 60, den: 1 },
];

const anyMode = fc.constantFrom(...SYNC_MODES);
const anyAudio = fc.double({ min: 0.001, max: 300, noNaN: true });
const constant = fc
  .tuple(fc.constantFrom(...RATES), fc.integer({ min: 1, max: 2000 }))
  .map(([rate, frames]) => constantClock(rate, frames));
/** Pictures that last from a sixtieth of a second to as long as a frame may last. */
const variable = fc
  .array(fc.integer({ min: 17, max: LONGEST_FRAME_SECONDS * 1000 }), { minLength: 1, maxLength: 400 })
  .map((steps): Clock => {
    let at = 0;
    return { timescale: 1000, ticks: Uint32Array.from([0, ...steps.map((step) => (at += step))]) };
  });
const anyClock = fc.oneof(constant, variable);

const at25 = (frames: number): Clock => constantClock({ num: 25, den: 1 }, frames);
const sourcesOf = (mode: SyncMode, frames: number, outputFrames: number): readonly number[] =>
  timelineOf(mode, at25(frames), outputFrames / 25).sources;
const durationOf = (clock: Clock, frame: number): number =>
  secondsAt(clock, frame + 1) - secondsAt(clock, frame);

describe('the length of the output', () => {
  it.each([
    ['bounce', 4.0, 8.64, 8.64],
    ['loop', 4.0, 8.64, 8.64],
    ['cut_off', 4.0, 8.64, 4.0],
    ['silence', 4.0, 8.64, 8.64],
    ['remap', 4.0, 8.64, 8.64],
    ['bounce', 10.0, 1.74, 1.74],
    ['loop', 10.0, 1.74, 1.74],
    ['cut_off', 10.0, 1.74, 1.74],
    ['silence', 10.0, 1.74, 10.0],
    ['remap', 10.0, 1.74, 1.74],
  ] as const)(
    'in mode %s of %f s of video and %f s of audio is %f s, to within a frame, at every rate',
    (mode, video, audio, expected) => {
      for (const rate of RATES) {
        const clock = constantClock(rate, Math.round((video * rate.num) / rate.den));
        const seconds = endOf(timelineOf(mode, clock, audio).clock);
        expect(Math.abs(seconds - expected)).toBeLessThanOrEqual(rate.den / rate.num + 1e-9);
      }
    },
  );

  it('includes the last frame of a duration that floating point makes a little too short', () => {
    expect(sourcesOf('loop', 10, 8.64 * 25)).toHaveLength(216);
    expect(sourcesOf('loop', 10, 0.58 * 25)).toHaveLength(14);
    expect(timelineOf('loop', at25(10), 1.1600000000000001).sources).toHaveLength(29);
    expect(timelineOf('loop', at25(10), 2.3199999999999998).sources).toHaveLength(58);
  });

  // LatentSync's own code cuts 27 windows out of one second, two of them past its end. Nothing here uses that count.
  it.each([
    [16_000, 25],
    [960_000, 1500],
  ])('matches MuseTalk’s code for %i samples of speech at 16 kHz: %i frames', (samples, frames) => {
    for (const mode of SYNC_MODES)
      expect(timelineOf(mode, at25(frames), samples / 16_000).sources).toHaveLength(frames);
    for (const mode of ['bounce', 'loop', 'remap'] as const) {
      expect(timelineOf(mode, at25(10), samples / 16_000).sources).toHaveLength(frames);
      expect(timelineOf(mode, at25(7500), samples / 16_000).sources).toHaveLength(frames);
    }
  });

  it('never exceeds the longer input, and follows the rule of its mode to within a frame, for any clock', () => {
    const rules: Record<SyncMode, (video: number, audio: number) => number> = {
      cut_off: Math.min,
      silence: Math.max,
      bounce: (_, audio) => audio,
      loop: (_, audio) => audio,
      remap: (_, audio) => audio,
    };
    fc.assert(
      fc.property(anyMode, anyClock, anyAudio, (mode, source, audioSeconds) => {
        const { clock } = timelineOf(mode, source, audioSeconds);
        const seconds = endOf(clock);
        const longestFrame = LONGEST_FRAME_SECONDS + 1e-6;
        expect(seconds).toBeLessThanOrEqual(Math.max(endOf(source), audioSeconds, longestFrame) + 1e-6);
        expect(Math.abs(seconds - rules[mode](endOf(source), audioSeconds))).toBeLessThanOrEqual(
          longestFrame,
        );
      }),
    );
  });
});

describe('lengths that differ by at most one frame', () => {
  it('count as equal: every mode shows the plain video with the whole audio', () => {
    const off = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(anyMode, anyClock, off, (mode, source, difference) => {
        fc.pre(framesOf(source) > 1);
        const audioSeconds = endOf(source) + (difference * usualStep(source)) / source.timescale;
        fc.pre(audioSeconds > 0);
        const { sources, clock, sound } = timelineOf(mode, source, audioSeconds);
        expect(sources).toEqual(Array.from({ length: framesOf(source) }, (_, i) => i));
        expect(clock).toEqual(source);
        expect(sound).toEqual({});
      }),
    );
  });
});

describe('the source frame of an output frame', () => {
  it('exists, for every mode and clock', () => {
    fc.assert(
      fc.property(anyMode, anyClock, anyAudio, (mode, source, audioSeconds) => {
        const { sources, clock } = timelineOf(mode, source, audioSeconds);
        expect(sources).toHaveLength(framesOf(clock));
        expect(
          sources.every((frame) => Number.isInteger(frame) && frame >= 0 && frame < framesOf(source)),
        ).toBe(true);
      }),
    );
  });

  it('stays as long on screen as in the source, in every mode but remap', () => {
    fc.assert(
      fc.property(anyMode, anyClock, anyAudio, (mode, source, audioSeconds) => {
        fc.pre(mode !== 'remap');
        const { sources, clock } = timelineOf(mode, source, audioSeconds);
        sources.forEach((frame, output) => {
          const isHeld = mode === 'silence' && output >= framesOf(source);
          const expected = isHeld ? usualStep(source) / source.timescale : durationOf(source, frame);
          expect(durationOf(clock, output)).toBeCloseTo(expected, 9);
        });
      }),
    );
  });

  it('holds the last one in silence if the audio is longer', () => {
    expect(sourcesOf('silence', 3, 6)).toEqual([0, 1, 2, 2, 2, 2]);
  });

  it('restarts in loop', () => {
    expect(sourcesOf('loop', 3, 8)).toEqual([0, 1, 2, 0, 1, 2, 0, 1]);
  });

  it('reverses in bounce without showing the end frames twice', () => {
    expect(sourcesOf('bounce', 4, 14)).toEqual([0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
    expect(sourcesOf('bounce', 2, 5)).toEqual([0, 1, 0, 1, 0]);
  });

  it('stays the same in bounce if there is only one', () => {
    expect(sourcesOf('bounce', 1, 4)).toEqual([0, 0, 0, 0]);
  });

  it('covers the whole video evenly in remap, slower or faster, never backwards', () => {
    expect(sourcesOf('remap', 3, 6)).toEqual([0, 0, 1, 1, 2, 2]);
    expect(sourcesOf('remap', 6, 3)).toEqual([1, 3, 5]);
    const count = fc.integer({ min: 1, max: 400 });
    fc.assert(
      fc.property(fc.constantFrom(...RATES), count, count, (rate, videoFrames, outputFrames) => {
        const seconds = (outputFrames * rate.den) / rate.num;
        const shown = timelineOf('remap', constantClock(rate, videoFrames), seconds).sources;
        expect(shown).toEqual([...shown].sort((a, b) => a - b));
        // No frame is skipped when slowed down, and none is repeated when sped up.
        expect(new Set(shown).size).toBe(Math.min(videoFrames, shown.length));
      }),
    );
  });

  it('equals the output index in every mode but remap while the video is long enough', () => {
    for (const mode of ['cut_off', 'bounce', 'loop'] as const) {
      expect(sourcesOf(mode, 10, 4)).toEqual([0, 1, 2, 3]);
    }
  });
});

describe('the used part of a video', () => {
  it('gives the same output as the whole video, for every mode and clock', () => {
    fc.assert(
      fc.property(anyMode, anyClock, anyAudio, (mode, source, audioSeconds) => {
        const used = usedVideoSeconds(mode, audioSeconds);
        const ticks = source.ticks.filter((_, i) => i === 0 || secondsAt(source, i - 1) < used);
        const cut = timelineOf(mode, { ...source, ticks }, audioSeconds);
        expect(cut).toEqual(timelineOf(mode, source, audioSeconds));
      }),
    );
  });

  it('is all of it in the modes that show the whole video', () => {
    expect(usedVideoSeconds('silence', 1.74)).toBe(Infinity);
    expect(usedVideoSeconds('remap', 1.74)).toBe(Infinity);
  });
});

describe('the audio', () => {
  it.each([
    ['cut_off', { trimSeconds: 4 }, {}],
    ['silence', {}, { padToSeconds: 10 }],
    ['bounce', {}, {}],
    ['loop', {}, {}],
    ['remap', {}, {}],
  ] as const)(
    'has in mode %s the plan %j when it is longer and %j when it is shorter',
    (mode, whenLonger, whenShorter) => {
      expect(timelineOf(mode, at25(100), 8.64).sound).toEqual(whenLonger);
      expect(timelineOf(mode, at25(250), 1.74).sound).toEqual(whenShorter);
    },
  );
});
