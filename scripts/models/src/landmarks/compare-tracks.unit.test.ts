import { type FaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { compareTracks, jitterOf } from './compare-tracks';

const BOX = { x1: 200, y1: 100, x2: 400, y2: 300 };
const reference = syntheticTrack({ frames: 12, width: 640, height: 480, box: BOX });

/** The track with every value changed; even values are x. */
const changed = (change: (value: number, i: number) => number): FaceTrack => ({
  ...reference,
  landmarks: reference.landmarks.map(change),
});

describe('compareTracks', () => {
  test('a face that is found too far right and down is off by that, in points and crops alike', () => {
    const { frames, points, crops } = compareTracks(
      changed((value, i) => value + (i % 2 === 0 ? 2 : 4)),
      reference,
    );
    expect(frames).toBe(12);
    for (const part of ['lm29', 'chin', 'brows', 'nose']) {
      const { right, down } = points[part] ?? {};
      expect(right?.mean).toBeGreaterThan(0.5);
      expect(down?.mean).toBeCloseTo(2 * (right?.mean ?? NaN), 4);
      expect(down?.worst).toBeCloseTo(down?.mean ?? NaN, 4);
      expect(right?.spread).toBeCloseTo(0, 4);
    }
    const { left, right, middle, bottom } = crops['musetalk'] ?? {};
    expect(left?.mean).toBeCloseTo(right?.mean ?? NaN, 3);
    expect(middle?.mean).toBeCloseTo(bottom?.mean ?? NaN, 3);
    expect(crops['highsync']?.['top']?.mean).toBeGreaterThan(0);
    const { right: aside, down, larger, turned } = crops['latentsync'] ?? {};
    expect(aside?.mean).toBeGreaterThan(1);
    // Its crop is stretched from three to four to a square.
    expect(down?.mean).toBeCloseTo((2 * (aside?.mean ?? NaN) * 3) / 4, 2);
    expect([larger?.mean, turned?.mean].map((each) => Math.abs(each ?? NaN) < 1e-3)).toEqual([true, true]);
  });

  test('a crop that is too large by a hundredth is so', () => {
    const { crops } = compareTracks(
      changed((value, i) => (i % 2 === 0 ? 300 + (value - 300) * 1.01 : 200 + (value - 200) * 1.01)),
      reference,
    );
    expect(crops['latentsync']?.['larger']?.mean).toBeCloseTo(1, 2);
  });
});

test('jitter is what leaves the straight line between two frames', () => {
  const steady = changed((value, i) => value + Math.floor(i / 136));
  for (const part of Object.values(jitterOf(steady))) expect(part).toBeCloseTo(0, 3);
  const trembling = changed((value, i) => value + (Math.floor(i / 136) % 2));
  for (const part of Object.values(jitterOf(trembling))) expect(part).toBeGreaterThan(0.2);
});
