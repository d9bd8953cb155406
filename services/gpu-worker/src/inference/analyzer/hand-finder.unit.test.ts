import { type RunModel } from '@lipsync/engines';
import { type Point } from '@lipsync/kernels';
import { blankPicture } from './face-detector';
import { createHandFinder } from './hand-finder';

const SIDE = 200;
const picture = blankPicture(SIDE, SIDE);

/** A face in the middle of the picture: eyes and nose as `alignedPatch` expects them, 40 pixels between the eyes. */
const face = Float32Array.from({ length: 136 }, (_, i) => {
  const point = Math.floor(i / 2);
  const [x, y] =
    point >= 42 && point < 48 ? [0.5, -0.55] : point >= 36 && point < 42 ? [-0.5, -0.55] : [0, -0.1];
  return 100 + 40 * (i % 2 === 0 ? x : y);
});

/** What the networks see: palms as centers in fractions of the searched square, and whether hands are there at all. */
interface Sight {
  readonly palms: readonly Point[];
  readonly presence: number;
}

/** Networks that see this at every look, and what was asked of them. */
function networks(sightAt: () => Sight) {
  const asked: string[] = [];
  const run: RunModel = (role, feeds) => {
    asked.push(role);
    const { palms, presence } = sightAt();
    const tensor = (data: number[]) => ({
      type: 'float32' as const,
      dims: [data.length],
      data: Float32Array.from(data),
    });
    const pairs = palms.flatMap(({ x, y }) => [
      ...[x, y, 0.1, 0.1],
      ...[x, y + 0.05, x, y, x, y - 0.05, x, y, x, y, x, y, x, y],
    ]);
    const outputs =
      role === 'palm_detector'
        ? { palms: tensor(pairs), scores: tensor(palms.map(() => 0.9)) }
        : { points: tensor(HAND), presence: tensor([presence]) };
    return Promise.resolve({ outputs, feeds });
  };
  return { asked, run };
}

/** An upright hand in its patch: the wrist below, the fingers above. */
const HAND = Array.from({ length: 21 }, (_, i) =>
  i === 0 ? [0.5, 0.85] : [0.35 + 0.06 * Math.floor((i - 1) / 4), 0.6 - 0.1 * ((i - 1) % 4)],
).flat();

const CHIN = { x: 0.5, y: 0.7 };

describe('createHandFinder', () => {
  test('a palm near the face is looked at closely, and its joints are told in pixels of the picture', async () => {
    const { run, asked } = networks(() => ({ palms: [CHIN], presence: 0.9 }));
    const [hand, ...others] = await createHandFinder(run)(picture, 0, face);
    expect(others).toEqual([]);
    expect(asked).toEqual(['palm_detector', 'hand_landmarks']);
    expect(hand).toHaveLength(21);
    const [wrist, tip] = [hand?.[0], hand?.[12]];
    expect(wrist?.x).toBeCloseTo(100, -1);
    expect(tip?.y).toBeLessThan(wrist?.y ?? 0);
  });

  test('what looks like a palm from afar and like no hand from near is none', async () => {
    const { run } = networks(() => ({ palms: [CHIN], presence: 0.2 }));
    expect(await createHandFinder(run)(picture, 0, face)).toEqual([]);
  });

  test('a hand near the face is followed without looking for palms, and one that is lost is looked for at once', async () => {
    let sight: Sight = { palms: [CHIN], presence: 0.9 };
    const { run, asked } = networks(() => sight);
    const find = createHandFinder(run);
    await find(picture, 0, face);
    asked.length = 0;
    expect(await find(picture, 0.08, face)).toHaveLength(1);
    expect(asked).toEqual(['hand_landmarks']);
    sight = { palms: [], presence: 0.1 };
    asked.length = 0;
    expect(await find(picture, 0.16, face)).toEqual([]);
    expect(asked).toEqual(['hand_landmarks', 'palm_detector']);
  });

  test('palms are looked for four times a second while none is there', async () => {
    const { run, asked } = networks(() => ({ palms: [], presence: 0 }));
    const find = createHandFinder(run);
    for (let look = 0; look < 40; look++) await find(picture, look * 0.05, face);
    expect(asked).toHaveLength(8);
  });

  test('a hand far below the face is told but not followed', async () => {
    const { run, asked } = networks(() => ({ palms: [{ x: 0.5, y: 1.2 }], presence: 0.9 }));
    const find = createHandFinder(run);
    expect(await find(picture, 0, face)).toHaveLength(1);
    asked.length = 0;
    await find(picture, 0.08, face);
    expect(asked).toEqual([]);
  });

  test('one hand that two palms point at is one hand', async () => {
    const { run } = networks(() => ({ palms: [CHIN, { x: 0.51, y: 0.7 }], presence: 0.9 }));
    expect(await createHandFinder(run)(picture, 0, face)).toHaveLength(1);
  });
});
