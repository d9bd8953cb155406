/** The place and the size of the mouth in the painted face, in pixels of a square crop. */
export interface FaceShape {
  readonly side: number;
  readonly x: number;
  readonly y: number;
  /** Half the width of the mouth. */
  readonly half: number;
}

/** A musetalk crop of 256 pixels, with the mouth in the middle of the lower half. */
export const LARGE_FACE: FaceShape = { side: 256, x: 128, y: 185, half: 40 };

type Point = readonly [number, number];

/** A frontal face, rotated by `angle` about its mouth, with lips `gap` pixels apart. Offsets are in half mouths. */
export function paintedLandmarks({ x: cx, y: cy, half }: FaceShape, gap: number, angle = 0): Float32Array {
  const unit = half / 40;
  const points: Point[] = [];
  const add = (x: number, y: number): void => {
    points.push(turnedAbout([cx, cy], cx + x * unit, cy + y * unit, angle));
  };
  for (let i = 0; i <= 16; i++) {
    const turn = Math.PI * (1 - i / 16);
    add(112 * Math.cos(turn), -65 + 126 * Math.sin(turn));
  }
  for (let i = 0; i < 10; i++) add(-68 + i * 15, -130);
  for (let i = 0; i < 4; i++) add(0, -105 + i * 20);
  for (let i = -2; i <= 2; i++) add(i * 9, -35);
  for (const eye of [-43, 43])
    for (const [x, y] of [
      [-14, 0],
      [-6, -5],
      [6, -5],
      [14, 0],
      [6, 5],
      [-6, 5],
    ] as const)
      add(eye + x, -110 + y);
  const parted = gap / 2 / unit;
  const lip = (xs: readonly number[], lift: number): void => {
    for (const x of xs) add(x * 40, lift * (1 - x * x));
  };
  lip([-1, -0.65, -0.3, 0, 0.3, 0.65, 1], -12 - parted);
  lip([0.65, 0.3, 0, -0.3, -0.65], 15 + parted);
  lip([-0.85, -0.4, 0, 0.4, 0.85], -parted);
  lip([0.4, 0, -0.4], parted);
  return Float32Array.from(points.flat());
}

/** A point turned by `angle` about a center. */
export function turnedAbout([cx, cy]: Point, x: number, y: number, angle: number): [number, number] {
  const [dx, dy] = [x - cx, y - cy];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [cx + dx * cos - dy * sin, cy + dx * sin + dy * cos];
}

/** A schematic face: eyes 100 px apart, nose bridge point 29 at (300, 240), chin at (300, 340), lips `gap` px apart. */
export function schematicFace(gap: number): Float32Array {
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
