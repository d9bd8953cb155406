import * as fc from 'fast-check';
import {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  type FaceTrack,
  FaceTrackError,
  mouthsAt,
} from './face-track';
import { EXEMPLAR_BYTES, EXEMPLARS, type MouthExemplars, NO_MOUTHS } from './mouth-exemplars';

/** In two looks. */
const mouths = [251, 241].map((prime): MouthExemplars => ({
  pictures: Uint8Array.from({ length: EXEMPLARS * EXEMPLAR_BYTES }, (_, i) => i % prime),
  landmarks: Float32Array.from({ length: EXEMPLARS * 136 }, (_, i) => i / prime),
}));

function track(frames: number, analyzerVersion = 'analyzer@1.0.0+0123456789ab'): FaceTrack {
  return {
    version: FACE_TRACK_VERSION,
    analyzerVersion,
    fps: 25,
    frames,
    width: 1280,
    height: 720,
    found: Uint8Array.from({ length: frames }, (_, i) => i % 2),
    landmarks: Float32Array.from({ length: frames * 136 }, (_, i) => -i / 7),
    cuts: Uint8Array.from({ length: frames }, (_, i) => Number(i === 2)),
    looks: Uint8Array.from({ length: frames }, (_, i) => Number(i >= 2)),
    mouths: [],
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
      const encoded = encodeFaceTrack({ ...track(3, version), mouths });
      const { landmarks, found, cuts, looks, mouths: decoded } = decodeFaceTrack(encoded);
      const ofMouths = decoded.flatMap((mouth) => [mouth.pictures, mouth.landmarks]);
      expect(ofMouths).toHaveLength(4);
      for (const part of [landmarks, found, cuts, looks, ...ofMouths])
        expect(part.buffer).toBe(encoded.buffer);
    }
  });

  test('the mouths come back as they were, behind any number of frames', () => {
    for (const frames of [0, 1, 2, 3]) {
      const { mouths: decoded, ...rest } = decodeFaceTrack(encodeFaceTrack({ ...track(frames), mouths }));
      expect({ ...rest, mouths: [] }).toEqual(track(frames));
      expect(decoded).toHaveLength(2);
      decoded.forEach(({ pictures, landmarks }, i) => {
        expect(Buffer.compare(pictures, mouths[i]?.pictures ?? new Uint8Array())).toBe(0);
        expect(landmarks).toEqual(mouths[i]?.landmarks);
      });
    }
  });

  test('a frame wears the mouth of its look, and none where there are no pictures', () => {
    const worn = [0, 1, 2, 3].map((frame) => mouthsAt({ ...track(4), mouths }, frame));
    expect(worn.map((mouth) => mouths.indexOf(mouth))).toEqual([0, 0, 1, 1]);
    expect(mouthsAt(track(4), 2)).toBe(NO_MOUTHS);
  });

  test('refuses every truncation', () => {
    const encoded = encodeFaceTrack(track(3));
    for (let length = 0; length < encoded.length; length++) {
      expect(() => decodeFaceTrack(encoded.subarray(0, length))).toThrow(FaceTrackError);
    }
    const withMouths = encodeFaceTrack({ ...track(3), mouths });
    const set = EXEMPLARS * EXEMPLAR_BYTES;
    for (const lost of [1, EXEMPLAR_BYTES, set, 2 * set, 2 * set + 7])
      expect(() => decodeFaceTrack(withMouths.subarray(0, -lost))).toThrow(FaceTrackError);
  });

  test('refuses another version and another kind of file', () => {
    const encoded = encodeFaceTrack(track(1));
    const text = Buffer.from(encoded).toString('latin1');
    const earlier = text.replace(`"version":"${FACE_TRACK_VERSION}"`, '"version":"1"');
    expect(() => decodeFaceTrack(Buffer.from(earlier, 'latin1'))).toThrow('another version');
    expect(() => decodeFaceTrack(Buffer.from('not a face track at all'))).toThrow(FaceTrackError);
  });
});
