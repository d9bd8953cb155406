import { mouthOpening } from './mouth-opening';

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

function rotated(landmarks: Float32Array, degrees: number, scale: number): Float32Array {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180) * scale, Math.sin((degrees * Math.PI) / 180) * scale];
  return landmarks.map((_, i) => {
    const x = landmarks[i & ~1] ?? 0;
    const y = landmarks[i | 1] ?? 0;
    return i % 2 === 0 ? c * x - s * y : s * x + c * y;
  });
}

describe('mouthOpening', () => {
  test('is the inner-lip gap in eye distances: 0 when closed, growing with the gap', () => {
    expect(mouthOpening(face(0))).toBe(0);
    expect(mouthOpening(face(30))).toBeCloseTo(0.3, 5);
  });

  test('does not change with tilt or size', () => {
    for (const degrees of [-40, 15, 90])
      expect(mouthOpening(rotated(face(20), degrees, 2.5))).toBeCloseTo(0.2, 5);
  });

  test('is closed rather than infinite for a degenerate face', () => {
    expect(mouthOpening(new Float32Array(136))).toBe(0);
  });
});
