import { type Scan } from '../probe/stream-info';
import { locateRange } from './seek-index';

/** 30 pictures a second for four seconds from second 0.5 on, a keyframe each second. */
const CLIP = {
  keys: [500, 1500, 2500, 3500],
  firstPts: 500,
  times: Array.from({ length: 120 }, (_, picture) => picture / 30),
  video: { timeBase: { num: 1, den: 1000 }, scan: 'progressive' as Scan },
};

describe('where a decoder starts', () => {
  it('is the last keyframe that is not after the first picture wanted', () => {
    expect(locateRange(CLIP, 70, 80)).toMatchObject({ first: 70, last: 80, seek: { seconds: 2.5 } });
    expect(locateRange(CLIP, 59, 80)).toMatchObject({ seek: { seconds: 1.5 } });
  });

  it('is the keyframe itself if that is the first picture wanted', () => {
    expect(locateRange(CLIP, 60, 80)).toMatchObject({ seek: { seconds: 2.5 } });
  });

  it('lets no picture through but those wanted, by their times in the file', () => {
    const { seek } = locateRange(CLIP, 70, 80);
    expect(seek?.from).toBeCloseTo(0.5 + 70 / 30 - 0.002, 6);
    expect(seek?.until).toBeCloseTo(0.5 + 80 / 30 + 0.002, 6);
  });

  it('leaves the deinterlacer the frame before', () => {
    const fields = { ...CLIP, video: { ...CLIP.video, scan: 'tff' as Scan } };
    expect(locateRange(fields, 62, 80)).toMatchObject({ seek: { seconds: 1.5 } });
    expect(locateRange(fields, 63, 80)).toMatchObject({ seek: { seconds: 2.5 } });
    expect(locateRange(fields, 2, 80)).toEqual({ first: 2, last: 80 });
  });

  it('is not rounded to a time before the keyframe, from which a seek would land on the one before', () => {
    const thirds = { ...CLIP, keys: [0, 1, 2, 3], firstPts: 0, times: [0, 1 / 3, 2 / 3, 1] };
    const video = { ...CLIP.video, timeBase: { num: 1, den: 3 } };
    expect(locateRange({ ...thirds, video }, 1, 2)).toMatchObject({ seek: { seconds: 0.333334 } });
  });

  it('is the beginning of the file before the second keyframe', () => {
    expect(locateRange(CLIP, 3, 20)).toEqual({ first: 3, last: 20 });
  });
});
