import { type Cover, coverTransform, isCovered } from '@lipsync/engines';
import { type RgbPicture } from '@lipsync/kernels';
import { COVER_REACH, createCoverFinder, type FoundCover } from './cover-finder';
import { blankPicture } from './face-detector';
import { type HandFinder } from './hand-finder';

const SIDE = 90;
/** Where the middle of eyes and mouth is, and the distance of the eyes, in pixels. */
const MIDDLE = 45;
const EYES = 23;
const RATE = 12.5;

type Color = readonly [number, number, number];
const WALL: Color = [90, 100, 110];
const SKIN: Color = [200, 150, 130];
const LIPS: Color = [170, 90, 90];
const TEETH: Color = [230, 225, 215];
const DARK: Color = [30, 30, 35];

/** A thing before the face: a box in distances of the eyes from the middle of eyes and mouth. */
interface Thing {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly color?: Color;
}

interface Scene {
  /** Gap of the lips in distances of the eyes. */
  readonly open?: number;
  /** That of the landmarks, where they lie elsewhere. */
  readonly seenOpen?: number;
  readonly light?: number;
  readonly thing?: Thing | null;
  /** How far the head has moved to the right and down, in distances of the eyes; the thing stays. */
  readonly moved?: readonly [number, number];
}

const AT_CHIN: Thing = { x: [-0.4, 0.5], y: [0.95, 2] };
const OVER_MOUTH: Thing = { x: [-0.3, 0.3], y: [0.3, 2] };
const STANDING: Thing = { x: [-0.3, 0.3], y: [0.95, 2] };

/** Where a head is that nods and sways. */
const nod = (seconds: number): [number, number] => [
  0.12 * Math.sin(5 * seconds),
  0.15 * Math.sin(3 * seconds),
];

describe('createCoverFinder', () => {
  test('nothing covers a face that talks, in light that changes', async () => {
    const { covers, covered } = await watch(4, (seconds) => ({
      open: 0.2 * Math.abs(Math.sin(9 * seconds)),
      light: 1 + 0.2 * Math.sin(2 * seconds),
    }));
    expect([covers.size, covered.size]).toEqual([0, 0]);
  });

  test('what comes before the chin is told where it is and while it is there', async () => {
    const { covers, covered } = await watch(4, between(1.6, 2.4, AT_CHIN));
    const frames = [...covers.keys()];
    expect([Math.min(...frames), Math.max(...frames)]).toEqual([19, 30]);
    expect(covered.size).toBe(0);
    const cover = covers.get(25) ?? new Uint8Array();
    expect(isCovered(cover, ...cellAt(0, 1.1))).toBe(true);
    expect(isCovered(cover, ...cellAt(-0.3, 1.1))).toBe(true);
    expect(isCovered(cover, ...cellAt(0, 0.55))).toBe(false);
    expect(isCovered(cover, ...cellAt(0.7, 0.4))).toBe(false);
  });

  test('a mouth is covered while something is before it, and a moment before and after', async () => {
    const { covered } = await watch(4, between(1.6, 2.4, OVER_MOUTH));
    expect([...covered]).toEqual(Array.from({ length: 12 }, (_, i) => 19 + i));
  });

  test('a face may be covered for almost half of the time', async () => {
    const { covered } = await watch(4, between(0.8, 2.6, OVER_MOUTH));
    expect(Math.min(...covered)).toBeLessThanOrEqual(10);
    expect(covered.has(5)).toBe(false);
    expect(covered.has(20)).toBe(true);
    expect(covered.has(40)).toBe(false);
  });

  test('what is seen for a moment only covers nothing', async () => {
    const faint = { ...AT_CHIN, color: [170, 125, 112] } as const;
    expect((await watch(4, between(1.6, 1.68, faint))).covers.size).toBe(0);
    expect((await watch(4, between(1.6, 2, faint))).covers.size).toBeGreaterThan(0);
  });

  test('teeth that show once cover nothing', async () => {
    const { covers } = await watch(4, (seconds) => ({ open: seconds > 2 && seconds < 2.4 ? 0.25 : 0 }));
    expect(covers.size).toBe(0);
  });

  test('what is found depends on the next seconds only', async () => {
    const scene = between(1.6, 2.4, AT_CHIN);
    const changed = (seconds: number): Scene =>
      seconds < 2.4 + COVER_REACH ? scene(seconds) : { light: 0.3 };
    const [one, other] = [await watch(9, scene), await watch(9, changed)];
    const known = ({ covers }: Watched) => [...covers].filter(([frame]) => frame < 2.4 * RATE);
    expect(known(one).length).toBeGreaterThan(9);
    expect(known(other)).toEqual(known(one));
  });

  test('a hand covers what it is before, though it has the color of the face and is seen once', async () => {
    const joints = Array.from({ length: 21 }, (_, i) => ({
      x: MIDDLE + (0.1 * (i % 4) - 0.3) * EYES,
      y: MIDDLE + (1.4 - 0.02 * i) * EYES,
    }));
    const findHands: HandFinder = (_, seconds) => Promise.resolve(seconds === 2 ? [joints] : []);
    const { covers, covered } = await watch(4, () => ({}), { findHands });
    expect([...covers.keys()]).toEqual([24, 25, 26]);
    expect(covered.size).toBe(0);
    expect(isCovered(covers.get(25) ?? new Uint8Array(), ...cellAt(-0.1, 1.2))).toBe(true);
    expect(isCovered(covers.get(25) ?? new Uint8Array(), ...cellAt(-0.1, 0.7))).toBe(false);
  });

  test('a mouth is covered while the face is not found beside something that passes, and a moment before and after', async () => {
    const isLost = (seconds: number): boolean => seconds > 1.9 && seconds < 2.05;
    const { covered } = await watch(4, between(1.6, 2.4, AT_CHIN), { isLost });
    expect([...covered]).toEqual([23, 24, 25, 26]);
    expect((await watch(4, () => ({}), { isLost })).covered.size).toBe(0);
  });

  test('a mouth is covered by what hides all of it, though its landmarks lie around that', async () => {
    const scene = between(1.6, 2.4, { x: [-0.25, 0.25], y: [0.1, 2] });
    const { covered } = await watch(4, (seconds) => {
      const { thing = null } = scene(seconds);
      return { thing, seenOpen: thing ? 0.9 : 0 };
    });
    expect([...covered]).toEqual(Array.from({ length: 12 }, (_, i) => 19 + i));
  });

  test('a strand of hair that blows before the cheek is told where it is', async () => {
    const strand: Thing = { x: [0.62, 0.7], y: [-0.3, 0.8] };
    const { covers, covered } = await watch(4, between(1.6, 2.4, strand));
    expect([...covers.keys()]).toEqual(Array.from({ length: 12 }, (_, i) => 19 + i));
    expect(covered.size).toBe(0);
    expect(isCovered(covers.get(25) ?? new Uint8Array(), ...cellAt(0.66, 0.5))).toBe(true);
    expect(isCovered(covers.get(25) ?? new Uint8Array(), ...cellAt(-0.66, 0.5))).toBe(false);
  });

  test('what stands before the chin throughout is told where it is, because the head moves behind it', async () => {
    const { covers, covered } = await watch(4, (seconds) => ({ thing: STANDING, moved: nod(seconds) }));
    expect(covers.size).toBe(50);
    expect(covered.size).toBe(0);
    for (const [frame, cover] of covers) {
      const moved = nod(frame / RATE);
      expect(isCovered(cover, ...cellAt(0, 1.15, moved))).toBe(true);
      expect(isCovered(cover, ...cellAt(0.65, 0.75, moved))).toBe(false);
      expect(isCovered(cover, ...cellAt(0, 0.55, moved))).toBe(false);
    }
  });

  test('what moves with the head is its beard, not a cover', async () => {
    const beard = ([x, y]: readonly [number, number]): Thing => ({
      x: [STANDING.x[0] + x, STANDING.x[1] + x],
      y: [STANDING.y[0] + y, STANDING.y[1] + y],
    });
    const { covers } = await watch(4, (seconds) => ({ thing: beard(nod(seconds)), moved: nod(seconds) }));
    expect(covers.size).toBe(0);
  });

  test('what is there throughout is not told before a head that is still and silent', async () => {
    expect((await watch(4, () => ({ thing: STANDING }))).covers.size).toBe(0);
  });

  test('what stands before a still head that talks is told, because the jaw moves behind it; its beard is not', async () => {
    const open = (seconds: number): number => 0.3 * Math.sin(4 * seconds) ** 2;
    const { covers } = await watch(4, (seconds) => ({ thing: STANDING, open: open(seconds) }));
    expect(covers.size).toBe(50);
    for (const cover of covers.values()) expect(isCovered(cover, ...cellAt(0, 1.15))).toBe(true);
    const beard = (by: number): Thing => ({ x: STANDING.x, y: [STANDING.y[0] + by, STANDING.y[1] + by] });
    const scene = (seconds: number): Scene => ({
      thing: beard(open(seconds) / 4),
      open: open(seconds),
    });
    expect((await watch(4, scene)).covers.size).toBe(0);
  });

  test('what stands before the mouth covers it if it hides half of it', async () => {
    const thing: Thing = { x: [-0.5, 0.5], y: [0.4, 2] };
    const { covered } = await watch(4, (seconds) => ({ thing, moved: nod(seconds) }));
    expect(covered.size).toBe(50);
  });

  test('coordinates of the source may be other than those of the analyzed picture', async () => {
    const scene = between(1.6, 2.4, AT_CHIN);
    const [large, small] = [await watch(4, scene, { enlarged: 3 }), await watch(4, scene)];
    expect(large.covers.get(25)).toEqual(small.covers.get(25));
  });
});

function between(from: number, to: number, thing: Thing): (seconds: number) => Scene {
  return (seconds) => ({ thing: seconds > from - 1e-9 && seconds < to ? thing : null });
}

const never = (): boolean => false;
const noHands: HandFinder = () => Promise.resolve([]);

/** Looks at a clip of so many seconds, whose source is `enlarged` times as large and whose face is lost at times. */
async function watch(
  seconds: number,
  sceneAt: (seconds: number) => Scene,
  {
    enlarged = 1,
    findHands = noHands,
    isLost = never,
  }: { enlarged?: number; findHands?: HandFinder; isLost?: (seconds: number) => boolean } = {},
): Promise<Watched> {
  const finder = createCoverFinder(findHands, [enlarged, enlarged]);
  for (let frame = 0; frame < seconds * RATE; frame++) {
    if (isLost(frame / RATE)) {
      finder.lose(frame, frame / RATE);
      continue;
    }
    const scene = sceneAt(frame / RATE);
    const points = landmarksOf(scene);
    const inSource = points.map((value) => value * enlarged);
    await finder.see(frame, frame / RATE, paint(scene), points, inSource);
  }
  finder.end();
  const found = [...finder.found()];
  const coverIn = ([frame, { cover }]: [number, FoundCover]) => (cover ? [[frame, cover] as const] : []);
  const covered = found.filter(([, { coversMouth }]) => coversMouth).map(([frame]) => frame);
  return { covers: new Map(found.flatMap(coverIn)), covered: new Set(covered) };
}

/** The covers by frame, and the frames whose mouth is covered. */
interface Watched {
  readonly covers: ReadonlyMap<number, Cover>;
  readonly covered: ReadonlySet<number>;
}

/** The cell of the cover's grid, column and row, of a place in distances of the eyes. */
function cellAt(x: number, y: number, moved: readonly [number, number] = [0, 0]): [number, number] {
  const { a, b, c, d, e, f } = coverTransform(landmarksOf({ moved }));
  const [u, v] = [MIDDLE + x * EYES, MIDDLE + y * EYES];
  return [Math.floor(a * u + b * v + c), Math.floor(d * u + e * v + f)];
}

/** Height of the lips' middle, and half of their width. */
const MOUTH = { y: 0.55, half: 0.4 };

function paint({ open = 0, light = 1, thing = null, moved = [0, 0] }: Scene): RgbPicture {
  const picture = blankPicture(SIDE, SIDE);
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const [x, y] = [(column + 0.5 - MIDDLE) / EYES, (row + 0.5 - MIDDLE) / EYES];
      const noise = ((column * 7 + row * 13) % 7) - 3;
      const isThing = thing && x >= thing.x[0] && x < thing.x[1] && y >= thing.y[0] && y < thing.y[1];
      const color = isThing ? (thing.color ?? DARK) : colorAt(x - moved[0], y - moved[1], open);
      const lit = color.map((level) => Math.min(255, level * light + noise));
      picture.data.set(lit, (row * SIDE + column) * 3);
    }
  }
  return picture;
}

function colorAt(x: number, y: number, open: number): Color {
  const bow = Math.sqrt(Math.max(0, 1 - (x / MOUTH.half) ** 2));
  const away = Math.abs(y - MOUTH.y);
  if (away < (open / 2) * bow) return TEETH;
  if (away < (open / 2 + 0.12) * bow) return LIPS;
  return (x / 1.1) ** 2 + ((y + 0.1) / 1.4) ** 2 < 1 ? SKIN : WALL;
}

/** 68 landmarks of the painted face. */
function landmarksOf({ open: painted = 0, seenOpen: open = painted, moved = [0, 0] }: Scene): Float32Array {
  const at = (angle: number, half: number, tall: number, y: number, x = 0) =>
    [x + half * Math.cos(angle), y + tall * Math.sin(angle)] as const;
  const ring = (count: number, ...[half, tall, y, x]: [number, number, number, number?]) =>
    Array.from({ length: count }, (_, i) => at(Math.PI + (2 * Math.PI * i) / count, half, tall, y, x));
  const points = [
    ...Array.from({ length: 17 }, (_, i) => at(Math.PI - (Math.PI * (i + 1)) / 18, 1.1, 1.4, -0.1)),
    ...ring(10, 0.6, 0.05, -0.8),
    ...[-0.56, -0.37, -0.2, -0.03].map((y) => [0, y] as const),
    ...[-0.19, -0.1, 0, 0.1, 0.19].map((x) => [x, 0.15] as const),
    ...ring(6, 0.18, 0.06, -0.55, -0.5),
    ...ring(6, 0.18, 0.06, -0.55, 0.5),
    ...ring(12, MOUTH.half, open / 2 + 0.12, MOUTH.y),
    ...ring(8, MOUTH.half * 0.9, open / 2, MOUTH.y),
  ];
  return Float32Array.from(points.flat().map((value, i) => MIDDLE + (value + (moved[i % 2] ?? 0)) * EYES));
}
