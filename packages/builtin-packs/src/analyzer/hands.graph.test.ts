import { HAND_PATCH_SIDE, PALM_PICTURE_SIDE } from '@lipsync/engines';
import { encodeModel, type Graph, PackError } from '@lipsync/model-pack';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { handLandmarks, palmDetector, publishedHands } from './hands';

type Place = readonly [x: number, y: number];

/** A raised left hand in fractions of a square: lines that are so thick. */
const WRIST: Place = [0.5, 0.86];
const TIPS: readonly Place[] = [
  [0.27, 0.55],
  [0.38, 0.24],
  [0.49, 0.2],
  [0.6, 0.23],
  [0.71, 0.32],
];
const LIMBS: readonly (readonly [from: Place, to: Place, reach: number])[] = [
  [[0.5, 0.62], [0.5, 0.68], 0.15],
  [[0.5, 0.75], [0.5, 1], 0.09],
  [[0.42, 0.7], TIPS[0] ?? WRIST, 0.04],
  ...TIPS.slice(1).map((tip, i) => [[0.4 + 0.065 * i, 0.55], tip, 0.035] as const),
];

/** The hand in a square of `side` pixels, `size` of it, around (x, y); null for the same picture without it. */
function picture(side: number, hand: { x: number; y: number; size: number } | null): Tensor {
  const data = new Uint8Array(side * side * 3);
  for (let i = 0; i < side * side; i++) {
    const u = hand && ((i % side) / side - hand.x) / hand.size + 0.5;
    const v = hand && (Math.floor(i / side) / side - hand.y) / hand.size + 0.5;
    const depth = u === null || v === null ? -1 : Math.max(...LIMBS.map((limb) => depthIn(u, v, limb)));
    const shade = 0.6 + 0.4 * Math.min(1, depth * 2);
    data.set(depth > 0 ? [215 * shade, 160 * shade, 135 * shade] : [60, 75, 90], i * 3);
  }
  return new Tensor('uint8', data, [1, side, side, 3]);
}

/** How deep in a limb a place lies: 0 at its border, 1 in its middle. */
function depthIn(u: number, v: number, [from, to, reach]: (typeof LIMBS)[number]): number {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const part = Math.min(1, Math.max(0, ((u - from[0]) * dx + (v - from[1]) * dy) / (dx * dx + dy * dy)));
  return 1 - Math.hypot(u - from[0] - part * dx, v - from[1] - part * dy) / reach;
}

async function computed(graph: Graph, image: Tensor): Promise<Record<string, number[]>> {
  const session = await InferenceSession.create(encodeModel(graph));
  const outputs = await session.run({ image });
  await session.release();
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { data }]) => [name, Array.from(data, Number)]),
  );
}

describe('the hand networks', () => {
  let published: Awaited<ReturnType<typeof publishedHands>>;
  beforeAll(async () => {
    published = await publishedHands();
  });

  test('the detector finds the palm of a hand where it is, and how large and how turned it is', async () => {
    const hand = { x: 0.4, y: 0.55, size: 0.6 };
    const { palms = [], scores = [] } = await computed(
      palmDetector(published.palms),
      picture(PALM_PICTURE_SIDE, hand),
    );
    const best = scores.indexOf(Math.max(...scores));
    expect(scores[best]).toBeGreaterThan(0.7);
    const [x = 0, y = 0, width = 0, height = 0, wristX = 0, wristY = 0] = palms.slice(best * 18);
    const [, middleY = 0] = palms.slice(best * 18 + 8);
    expect(Math.hypot(x - hand.x, y - hand.y - 0.14 * hand.size)).toBeLessThan(0.08);
    expect(Math.abs(width - height)).toBeLessThan(0.02);
    expect(width / hand.size).toBeGreaterThan(0.2);
    expect(width / hand.size).toBeLessThan(0.5);
    expect(Math.hypot(wristX - hand.x, wristY - hand.y - 0.36 * hand.size)).toBeLessThan(0.08);
    expect(wristY).toBeGreaterThan(middleY);
  });

  test('it finds none where there is none', async () => {
    const { scores = [] } = await computed(palmDetector(published.palms), picture(PALM_PICTURE_SIDE, null));
    expect(Math.max(...scores)).toBeLessThan(0.2);
  });

  test('the landmarks lie on wrist and fingertips, and say that a hand is there', async () => {
    const hand = { x: 0.5, y: 0.5, size: 0.9 };
    const { points = [], presence } = await computed(
      handLandmarks(published.landmarks),
      picture(HAND_PATCH_SIDE, hand),
    );
    expect(presence?.[0]).toBeGreaterThan(0.8);
    for (const [joint, [x, y]] of [[0, WRIST] as const, ...TIPS.map((tip, i) => [4 + 4 * i, tip] as const)]) {
      const place = [hand.x + (x - 0.5) * hand.size, hand.y + (y - 0.5) * hand.size] as const;
      const [foundX = 0, foundY = 0] = points.slice(joint * 2);
      expect(Math.hypot(foundX - place[0], foundY - place[1])).toBeLessThan(0.08);
    }
  });

  test('they say that none is there where none is', async () => {
    const { presence } = await computed(handLandmarks(published.landmarks), picture(HAND_PATCH_SIDE, null));
    expect(presence?.[0]).toBeLessThan(0.2);
  });

  test('a file that is no TensorFlow Lite network is refused', () => {
    expect(() => palmDetector(Uint8Array.from({ length: 64 }, (_, i) => 7 * i))).toThrow(PackError);
  });
});
