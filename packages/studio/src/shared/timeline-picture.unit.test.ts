import { SYNC_MODES } from '@lipsync/contract';
import { constantClock, endOf, timelineOf } from '@lipsync/domain';
import fc from 'fast-check';
import { type Segment, timelinePicture } from './timeline-picture';

const seconds = fc.integer({ min: 1, max: 9000 }).map((frames) => frames / 30);
const kinds = (segments: readonly Segment[]) => segments.map(({ kind }) => kind);

describe('the picture of a sync mode', () => {
  it('has the length that the service gives the output, and tracks without gaps', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SYNC_MODES), seconds, seconds, (mode, video, voice) => {
        const picture = timelinePicture(mode, video, voice);
        const source = constantClock({ num: 30, den: 1 }, Math.round(video * 30));
        expect(picture.outputSeconds).toBe(endOf(timelineOf(mode, source, voice).clock));
        for (const segments of [picture.video, picture.voice]) {
          const shown = segments.filter(({ kind }) => kind !== 'unused');
          // Lengths that differ by a frame are equal.
          expect(Math.abs((shown.at(-1)?.to ?? 0) - picture.outputSeconds)).toBeLessThanOrEqual(0.0334);
          segments.forEach(({ from }, i) => expect(from).toBe(i === 0 ? 0 : segments[i - 1]?.to));
        }
      }),
    );
  });

  it.each([
    ['cut_off', 4, 8, ['forward'], ['forward', 'unused']],
    ['cut_off', 8, 4, ['forward', 'unused'], ['forward']],
    ['silence', 4, 8, ['forward', 'held'], ['forward']],
    ['silence', 8, 4, ['forward'], ['forward', 'silent']],
    ['loop', 4, 8, ['forward', 'forward'], ['forward']],
    ['bounce', 4, 10, ['forward', 'backward', 'forward'], ['forward']],
    ['bounce', 8, 4, ['forward', 'unused'], ['forward']],
    ['remap', 4, 8, ['stretched'], ['forward']],
    ['remap', 5, 5, ['forward'], ['forward']],
  ] as const)('%s with %d s of video and %d s of voice', (mode, video, voice, videoKinds, voiceKinds) => {
    const picture = timelinePicture(mode, video, voice);
    expect(kinds(picture.video)).toEqual(videoKinds);
    expect(kinds(picture.voice)).toEqual(voiceKinds);
  });
});
