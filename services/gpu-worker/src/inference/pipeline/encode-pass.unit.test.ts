import { type FaceTrack } from '@lipsync/lipsync';
import { framesToEncode } from './encode-pass';

const track = (found: readonly number[]): FaceTrack => ({
  version: '2',
  analyzerVersion: 'drawn',
  fps: 25,
  frames: found.length,
  width: 100,
  height: 100,
  found: Uint8Array.from(found),
  landmarks: new Float32Array(found.length * 136),
  cuts: new Uint8Array(found.length),
});
const knowing = (...frames: number[]) => ({ has: (frame: number) => frames.includes(frame) });

describe('how far a video is decoded for features', () => {
  test('up to the last face that one of the engines does not know', () => {
    const faces = track([1, 1, 1, 1, 1]);
    expect(framesToEncode(faces, 5, [knowing()])).toBe(5);
    expect(framesToEncode(faces, 5, [knowing(2, 3, 4)])).toBe(2);
    expect(framesToEncode(faces, 5, [knowing(0, 1, 2, 3, 4), knowing(0, 1, 3, 4)])).toBe(3);
  });

  test('not at all when everything is known, when nobody asks, or when there is no face', () => {
    expect(framesToEncode(track([1, 1]), 2, [knowing(0, 1)])).toBe(0);
    expect(framesToEncode(track([1, 1]), 2, [])).toBe(0);
    expect(framesToEncode(track([0, 0]), 2, [knowing()])).toBe(0);
  });

  test('frames without a face at the end are not waited for', () => {
    expect(framesToEncode(track([1, 1, 0, 0]), 4, [knowing()])).toBe(2);
  });

  test('nothing is made of rows of the track that a longer analysis might change', () => {
    expect(framesToEncode(track([1, 1, 1, 1]), 3, [knowing()])).toBe(3);
  });
});
