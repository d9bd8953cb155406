import * as fc from 'fast-check';
import { coverOf } from './cover';
import {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  type FaceTrack,
  FaceTrackError,
} from './face-track';

function track(frames: number, analyzerVersion = 'analyzer@1.0.0+0123456789ab'): FaceTrack {
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion,
    frames,
    clock: {
      timescale: 90_000,
      ticks: Uint32Array.from({ length: frames + 1 }, (_, i) => i * 3003 + (i % 2)),
    },
    width: 1280,
    height: 720,
    found: Uint8Array.from({ length: frames }, (_, i) => i % 2),
    landmarks: Float32Array.from({ length: frames * 136 }, (_, i) => -i / 7),
    cuts: Uint8Array.from({ length: frames }, (_, i) => Number(i === 2)),
    looks: Uint8Array.from({ length: frames }, (_, i) => Number(i >= 2)),
    seen: Uint8Array.from({ length: frames }, (_, i) => Number(i % 3 === 1)),
    held: Uint8Array.from({ length: frames }, (_, i) => Number(i % 5 === 4)),
    shown: Uint8Array.from({ length: frames }, (_, i) => 255 - i),
    covers: new Map(
      Array.from({ length: frames >> 2 }, (_, i) => [
        4 * i + 3,
        coverOf((column, row) => (column + row) % (i + 2) === 0),
      ]),
    ),
  };
}

describe('face track encoding', () => {
  test('decodes what was encoded, for any header length, from any offset of a buffer', () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.string(), fc.nat({ max: 3 }), (frames, version, shift) => {
        const original = track(frames, version);
        const encoded = encodeFaceTrack(original);
        const shifted = new Uint8Array(encoded.length + shift);
        shifted.set(encoded, shift);
        expect(decodeFaceTrack(shifted.subarray(shift))).toEqual(original);
      }),
    );
  });

  test('is read in place for any header length, without a second copy', () => {
    for (const version of ['a', 'ab', 'abc', 'abcd']) {
      const encoded = encodeFaceTrack(track(4, version));
      const { landmarks, clock, found, cuts, looks, seen, held, shown, covers } = decodeFaceTrack(encoded);
      for (const part of [landmarks, clock.ticks, found, cuts, looks, seen, held, shown, ...covers.values()])
        expect(part.buffer).toBe(encoded.buffer);
    }
  });

  test('refuses every truncation', () => {
    const encoded = encodeFaceTrack(track(4));
    for (let length = 0; length < encoded.length; length++) {
      expect(() => decodeFaceTrack(encoded.subarray(0, length))).toThrow(FaceTrackError);
    }
  });

  test('refuses covers of frames that it does not have', () => {
    const cover = coverOf(() => true);
    const beyond = { ...track(4), covers: new Map([[4, cover]]) };
    expect(() => decodeFaceTrack(encodeFaceTrack(beyond))).toThrow(
      'the covers of the face track are damaged',
    );
  });

  test('refuses another version and another kind of file', () => {
    const encoded = encodeFaceTrack(track(1));
    const text = Buffer.from(encoded).toString('latin1');
    // A number of as many digits leaves the header's length.
    const other = FACE_TRACK_VERSION.replaceAll(/\d/g, '0');
    const earlier = text.replace(`"version":"${FACE_TRACK_VERSION}"`, `"version":"${other}"`);
    expect(() => decodeFaceTrack(Buffer.from(earlier, 'latin1'))).toThrow('another version');
    expect(() => decodeFaceTrack(Buffer.from('not a face track at all'))).toThrow(FaceTrackError);
  });
});
