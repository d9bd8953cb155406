import { SYNC_MODES, type SyncMode } from '@lipsync/contract';
import fc from 'fast-check';
import { audioPlan, outputFrameCount, sourceFrameIndex, usedVideoFrames, WORKING_FPS } from './timeline';

const FRAME_SECONDS = 1 / WORKING_FPS;

const anyMode = fc.constantFrom(...SYNC_MODES);
const anyVideo = fc.integer({ min: 1, max: 7500 });
const anyAudio = fc.double({ min: 0.001, max: 300, noNaN: true });

function indices(mode: SyncMode, videoFrames: number, outputFrames: number): number[] {
  return Array.from({ length: outputFrames }, (_, i) =>
    sourceFrameIndex(mode, i, { videoFrames, outputFrames }),
  );
}

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
    'in mode %s of %f s of video and %f s of audio is %f s, to within a frame',
    (mode, video, audio, expected) => {
      const seconds = outputFrameCount(mode, video * WORKING_FPS, audio) * FRAME_SECONDS;
      expect(Math.abs(seconds - expected)).toBeLessThanOrEqual(FRAME_SECONDS + 1e-9);
    },
  );

  it('includes the last frame of a duration that floating point makes a little too short', () => {
    expect(outputFrameCount('loop', 10, 8.64)).toBe(216);
    expect(outputFrameCount('loop', 10, 0.58)).toBe(14);
    expect(outputFrameCount('loop', 10, 1.1600000000000001)).toBe(29);
    expect(outputFrameCount('loop', 10, 2.3199999999999998)).toBe(58);
  });

  // LatentSync's own code cuts 27 windows out of one second, two of them past its end. Nothing here uses that count.
  it.each([
    [16_000, 25],
    [960_000, 1500],
  ])('matches MuseTalk’s code for %i samples of speech at 16 kHz: %i frames', (samples, frames) => {
    for (const mode of SYNC_MODES) expect(outputFrameCount(mode, frames, samples / 16_000)).toBe(frames);
    for (const mode of ['bounce', 'loop', 'remap'] as const) {
      expect(outputFrameCount(mode, 10, samples / 16_000)).toBe(frames);
      expect(outputFrameCount(mode, 7500, samples / 16_000)).toBe(frames);
    }
  });

  it('never exceeds the longer input, and so never 300 s', () => {
    fc.assert(
      fc.property(anyMode, anyVideo, anyAudio, (mode, videoFrames, audioSeconds) => {
        const longer = Math.max(videoFrames, audioSeconds * WORKING_FPS, 1);
        expect(outputFrameCount(mode, videoFrames, audioSeconds)).toBeLessThanOrEqual(longer + 1e-6);
      }),
    );
    for (const mode of SYNC_MODES) expect(outputFrameCount(mode, 7500, 300)).toBe(7500);
  });

  it('follows the rule of its mode within one frame, for any lengths', () => {
    const rules: Record<SyncMode, (video: number, audio: number) => number> = {
      cut_off: Math.min,
      silence: Math.max,
      bounce: (_, audio) => audio,
      loop: (_, audio) => audio,
      remap: (_, audio) => audio,
    };
    fc.assert(
      fc.property(anyMode, anyVideo, anyAudio, (mode, videoFrames, audioSeconds) => {
        const expected = rules[mode](videoFrames, audioSeconds * WORKING_FPS);
        const actual = outputFrameCount(mode, videoFrames, audioSeconds);
        expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1 + 1e-6);
      }),
    );
  });
});

describe('lengths that differ by at most one frame', () => {
  it('count as equal: every mode shows the plain video with the whole audio', () => {
    const off = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(anyMode, fc.integer({ min: 2, max: 500 }), off, (mode, videoFrames, difference) => {
        const audioSeconds = (videoFrames + difference) * FRAME_SECONDS;
        const outputFrames = outputFrameCount(mode, videoFrames, audioSeconds);
        expect(outputFrames).toBe(videoFrames);
        expect(indices(mode, videoFrames, outputFrames)).toEqual(
          Array.from({ length: videoFrames }, (_, i) => i),
        );
        expect(audioPlan(mode, { videoFrames, audioSeconds })).toEqual({});
      }),
    );
  });
});

describe('the source frame of an output frame', () => {
  it('exists, for every mode and any lengths', () => {
    fc.assert(
      fc.property(
        anyMode,
        anyVideo,
        anyAudio,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (mode, videoFrames, audio, at) => {
          const outputFrames = outputFrameCount(mode, videoFrames, audio);
          const index = sourceFrameIndex(mode, Math.floor(at * outputFrames), { videoFrames, outputFrames });
          expect(Number.isInteger(index)).toBe(true);
          expect(index).toBeGreaterThanOrEqual(0);
          expect(index).toBeLessThan(videoFrames);
        },
      ),
    );
  });

  it('holds the last one in silence if the audio is longer', () => {
    expect(indices('silence', 3, 6)).toEqual([0, 1, 2, 2, 2, 2]);
  });

  it('restarts in loop', () => {
    expect(indices('loop', 3, 8)).toEqual([0, 1, 2, 0, 1, 2, 0, 1]);
  });

  it('reverses in bounce without showing the end frames twice', () => {
    expect(indices('bounce', 4, 14)).toEqual([0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
    expect(indices('bounce', 2, 5)).toEqual([0, 1, 0, 1, 0]);
  });

  it('stays the same in bounce if there is only one', () => {
    expect(indices('bounce', 1, 4)).toEqual([0, 0, 0, 0]);
  });

  it('moves by exactly one frame in bounce and has the period 2N-2', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 500 }), fc.nat(10_000), (videoFrames, i) => {
        const at = (index: number) =>
          sourceFrameIndex('bounce', index, { videoFrames, outputFrames: 20_000 });
        expect(Math.abs(at(i + 1) - at(i))).toBe(1);
        expect(at(i + 2 * videoFrames - 2)).toBe(at(i));
      }),
    );
  });

  it('covers the whole video evenly in remap, slower or faster, never backwards', () => {
    expect(indices('remap', 3, 6)).toEqual([0, 0, 1, 1, 2, 2]);
    expect(indices('remap', 6, 3)).toEqual([1, 3, 5]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 1, max: 400 }),
        (videoFrames, outputFrames) => {
          const shown = indices('remap', videoFrames, outputFrames);
          const sorted = [...shown].sort((a, b) => a - b);
          expect(shown).toEqual(sorted);
          // No frame is skipped when slowed down, and none is repeated when sped up.
          expect(new Set(shown).size).toBe(Math.min(videoFrames, outputFrames));
        },
      ),
    );
  });

  it('equals the output index in every mode but remap while the video is long enough', () => {
    for (const mode of ['cut_off', 'bounce', 'loop', 'silence'] as const) {
      expect(indices(mode, 10, 4)).toEqual([0, 1, 2, 3]);
    }
  });
});

describe('the used part of a video', () => {
  it('gives the same output as the whole video, for every mode and any lengths', () => {
    const wholeFramesOfAudio = fc.integer({ min: 1, max: 7500 }).map((frames) => frames * FRAME_SECONDS);
    fc.assert(
      fc.property(
        anyMode,
        anyVideo,
        fc.oneof(anyAudio, wholeFramesOfAudio),
        (mode, videoFrames, audioSeconds) => {
          const usedFrames = Math.min(videoFrames, usedVideoFrames(mode, audioSeconds));
          const outputFrames = outputFrameCount(mode, videoFrames, audioSeconds);
          expect(outputFrameCount(mode, usedFrames, audioSeconds)).toBe(outputFrames);
          expect(indices(mode, usedFrames, outputFrames)).toEqual(indices(mode, videoFrames, outputFrames));
          expect(audioPlan(mode, { videoFrames: usedFrames, audioSeconds })).toEqual(
            audioPlan(mode, { videoFrames, audioSeconds }),
          );
        },
      ),
    );
  });

  it('ends near the end of the audio, except in the modes that show the whole video', () => {
    expect(usedVideoFrames('cut_off', 1.74)).toBe(46);
    expect(usedVideoFrames('loop', 1.74)).toBe(46);
    expect(usedVideoFrames('bounce', 1.74)).toBe(46);
    expect(usedVideoFrames('silence', 1.74)).toBe(Infinity);
    expect(usedVideoFrames('remap', 1.74)).toBe(Infinity);
  });
});

describe('the audio', () => {
  const long = { videoFrames: 100, audioSeconds: 8.64 };
  const short = { videoFrames: 250, audioSeconds: 1.74 };

  it.each([
    ['cut_off', { trimSeconds: 4 }, {}],
    ['silence', {}, { padToSeconds: 10 }],
    ['bounce', {}, {}],
    ['loop', {}, {}],
    ['remap', {}, {}],
  ] as const)(
    'has in mode %s the plan %j when it is longer and %j when it is shorter',
    (mode, whenLonger, whenShorter) => {
      expect(audioPlan(mode, long)).toEqual(whenLonger);
      expect(audioPlan(mode, short)).toEqual(whenShorter);
    },
  );
});
