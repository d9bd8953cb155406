import { alternation, createInBetween } from './in-between';

const SIDE = 128;
const WHOLE = { x1: 0, y1: 0, x2: SIDE, y2: SIDE };

/** A picture of soft blobs, as seen by somebody who is this far to the right and further down. */
function blobs(right: number, down: number, light = 0): Float32Array {
  return Float32Array.from({ length: 3 * SIDE * SIDE }, (_, i) => {
    const [x, y] = [(i % SIDE) + right, (Math.floor(i / SIDE) % SIDE) + down];
    return light + 0.4 * Math.sin(x / 9 + Math.sin(y / 13)) + 0.3 * Math.cos(y / 7 - x / 21);
  });
}

function between(from: Float32Array, to: Float32Array, share = 0.5, shown = WHOLE): Float32Array {
  const drawn = new Float32Array(3 * SIDE * SIDE);
  createInBetween(SIDE, shown)(from, to, share, drawn);
  return drawn;
}

/** The root mean square of the difference, away from the border, where what moves in is not known. */
function distance(a: Float32Array, b: Float32Array, border = 16): number {
  let [sum, count] = [0, 0];
  a.forEach((value, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE) % SIDE];
    if (Math.min(x, y, SIDE - 1 - x, SIDE - 1 - y) < border) return;
    sum += (value - (b[i] ?? NaN)) ** 2;
    count++;
  });
  return Math.sqrt(sum / count);
}

const meanOf = (a: Float32Array, b: Float32Array): Float32Array =>
  a.map((value, i) => (value + (b[i] ?? NaN)) / 2);

test.each([
  [3, 0],
  [0, 8],
  [-6, 4],
  [10, -6],
])('what moves by %d and %d is half of the way there, and as sharp', (right, down) => {
  const [from, to, middle] = [blobs(0, 0), blobs(right, down), blobs(right / 2, down / 2)];
  const error = distance(between(from, to), middle);
  expect(error).toBeLessThan(0.02);
  expect(error).toBeLessThan(distance(meanOf(from, to), middle) / 2);
});

test('a share of the time is that share of the way', () => {
  const error = distance(between(blobs(0, 0), blobs(8, 4), 0.25), blobs(2, 1));
  expect(error).toBeLessThan(0.02);
});

test('two parts of a picture move on their own', () => {
  const parts = (left: Float32Array, right: Float32Array): Float32Array =>
    left.map((value, i) => (i % SIDE < SIDE / 2 ? value : (right[i] ?? NaN)));
  const drawn = between(parts(blobs(0, 0), blobs(0, 0)), parts(blobs(0, 6), blobs(0, -6)));
  const [left, right] = [blobs(0, 3), blobs(0, -3)];
  const error = (of: Float32Array, first: number): number => {
    const inside = (i: number): boolean => i % SIDE >= first && i % SIDE < first + 32;
    return distance(
      drawn.map((value, i) => (inside(i) ? value : 0)),
      of.map((value, i) => (inside(i) ? value : 0)),
    );
  };
  expect(error(left, 16)).toBeLessThan(0.02);
  expect(error(right, 80)).toBeLessThan(0.02);
});

test('what does not move is its mean', () => {
  const [dark, light] = [blobs(0, 0), blobs(0, 0)];
  expect(distance(between(dark, light), dark, 0)).toBeLessThan(1e-5);
  const plain = (level: number): Float32Array => new Float32Array(3 * SIDE * SIDE).fill(level);
  expect(distance(between(plain(-0.4), plain(0.2)), plain(-0.1), 0)).toBeLessThan(1e-6);
});

test('what has no counterpart in the other picture is mixed where it is, not carried elsewhere', () => {
  const plain = blobs(0, 0);
  const spotted = plain.map((value, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE) % SIDE];
    return Math.abs(x - 64) < 14 && Math.abs(y - 64) < 6 ? 1 : value;
  });
  expect(distance(between(plain, spotted), meanOf(plain, spotted))).toBeLessThan(0.04);
});

test('only what is shown is drawn, and a little around it', () => {
  const [from, to] = [blobs(0, 0), blobs(8, 0)];
  const drawn = between(from, to, 0.5, { x1: 40, y1: 60, x2: 100, y2: 110 });
  const whole = between(from, to);
  drawn.forEach((value, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE) % SIDE];
    const inside = x >= 36 && x < 104 && y >= 56 && y < 114;
    if (value !== (inside ? whole[i] : from[i])) throw new Error(`${x}, ${y}`);
  });
  expect(distance(drawn, from)).toBeGreaterThan(0.05);
});

test('alternation is what the lower half of a series in turns lacks, whatever its course, and 1 where there are no turns', () => {
  const course = Array.from({ length: 40 }, (_, i) => 10 + i);
  expect(alternation(course)).toBeCloseTo(1, 6);
  const every = (from: number) => course.map((value, i) => (i % 2 === from ? 0.8 * value : value));
  expect(alternation(every(0))).toBeCloseTo(0.8, 6);
  expect(alternation(every(1))).toBeCloseTo(0.8, 6);
  expect(alternation(every(1).map((value, i) => (i === 7 ? null : value)))).toBeCloseTo(0.8, 2);
  expect(alternation([1, 2, 3])).toBeNaN();
});
