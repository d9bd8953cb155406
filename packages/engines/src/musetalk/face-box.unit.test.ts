import { faceBox } from './face-box';

/** A schematic face: eyes 100 px apart, nose bridge point 29 at (300, 240), chin at (300, 340), lips `gap` px apart. */
function face(gap: number): Float32Array {
  const points = Array.from({ length: 68 }, () => [300, 240] as [number, number]);
  const put = (from: number, to: number, x: number, y: number) => points.fill([x, y], from, to);
  put(36, 42, 250, 200);
  put(42, 48, 350, 200);
  put(60, 65, 300, 290);
  put(65, 68, 300, 290 + gap);
  points[0] = [220, 210];
  points[16] = [380, 210];
  points[8] = [300, 340];
  return Float32Array.from(points.flat());
}

/** MuseTalk 1.5. */
const placement = { shift: 0, margin: 10 };

describe('faceBox', () => {
  test('spans the landmarks, with the nose bridge in the middle and 10 px under the chin', () => {
    expect(faceBox(face(10), { width: 640, height: 480 }, placement)).toEqual({
      x1: 220,
      y1: 140,
      x2: 380,
      y2: 350,
    });
  });

  test('a shift moves the middle down and leaves the chin where it is; without a margin the box ends there', () => {
    expect(faceBox(face(10), { width: 640, height: 480 }, { shift: 7, margin: 0 })).toEqual({
      x1: 220,
      y1: 154,
      x2: 380,
      y2: 340,
    });
  });

  test('is clipped to the picture', () => {
    const low = face(0).map((value, i) => (i % 2 === 0 ? value - 250 : value - 200));
    expect(faceBox(low, { width: 100, height: 145 }, placement)).toEqual({ x1: 0, y1: 0, x2: 100, y2: 145 });
  });

  test('a face entirely outside the picture has no box', () => {
    expect(
      faceBox(
        face(0).map((value) => value + 1000),
        { width: 640, height: 480 },
        placement,
      ),
    ).toBeNull();
  });
});
