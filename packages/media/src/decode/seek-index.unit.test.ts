import { locateRange } from './seek-index';

const TIME_BASE = { num: 1, den: 1000 };
/** 30 pictures a second for four seconds, a keyframe each second. */
const PTS = Array.from({ length: 120 }, (_, i) => Math.round((i * 1000) / 30) + 500);
const TABLE = { pts: PTS, durations: PTS.map(() => 33), keys: [500, 1500, 2500, 3500], leadIn: 0 };

describe('where a decoder starts', () => {
  it('is the last keyframe that is not after the picture shown at the first frame wanted', () => {
    expect(locateRange(TABLE, TIME_BASE, 500, 60, 70)).toMatchObject({
      first: 60,
      last: 70,
      seekSeconds: 2.5,
    });
    expect(locateRange(TABLE, TIME_BASE, 500, 49, 70)).toMatchObject({ seekSeconds: 1.5 });
  });

  it('is the keyframe itself if that is the first frame wanted', () => {
    expect(locateRange(TABLE, TIME_BASE, 500, 50, 70)).toMatchObject({ seekSeconds: 2.5 });
  });

  it('is not rounded to a time before the keyframe, from which a seek would land on the one before', () => {
    const thirds = { pts: [0, 1, 2, 3], durations: [1, 1, 1, 1], keys: [0, 1, 2, 3], leadIn: 0 };
    expect(locateRange(thirds, { num: 1, den: 3 }, 0, 8, 9)).toMatchObject({ seekSeconds: 0.333334 });
  });

  it('is the beginning of the file before the second keyframe', () => {
    expect(locateRange(TABLE, TIME_BASE, 500, 3, 20)).toEqual({ first: 3, last: 20, firstPts: 500 });
  });

  it('reaches back over a hole, to the keyframe of the picture that is still on screen', () => {
    const holed = { ...TABLE, pts: [500, 540, 9000], keys: [500, 540, 9000] };
    expect(locateRange(holed, TIME_BASE, 500, 100, 110)).toMatchObject({ seekSeconds: 0.54 });
  });
});
