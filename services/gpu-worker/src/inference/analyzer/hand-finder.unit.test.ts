import { PALM_PICTURE_SIDE, type RunModel, uint8Of } from '@lipsync/engines';
import { type Point } from '@lipsync/kernels';
import { blankPicture } from './face-detector';
import { createHandFinders } from './hand-finder';

const SIDE = 200;
/** Every pixel tells its column. */
const picture = blankPicture(SIDE, SIDE);
picture.data.forEach((_, i, data) => (data[i] = Math.floor(i / 3) % SIDE));

/** A face here in the picture: eyes and nose as `alignedPatch` expects them, so many pixels between the eyes. */
const faceAt = (middle: number, eyes: number): Float32Array =>
  Float32Array.from({ length: 136 }, (_, i) => {
    const point = Math.floor(i / 2);
    const [x, y] =
      point >= 42 && point < 48 ? [0.5, -0.55] : point >= 36 && point < 42 ? [-0.5, -0.55] : [0, -0.1];
    return i % 2 === 0 ? middle + eyes * x : 100 + eyes * y;
  });
const face = faceAt(100, 40);

/** What the networks see: palms as centers in fractions of the searched square, and whether hands are there at all. */
interface Sight {
  readonly palms: readonly Point[];
  readonly presence: number;
}

/** What a network is asked: which one, and with which pixels. */
interface Question {
  readonly role: string;
  readonly pixels: Uint8Array;
}

/** Networks that see this at every look, what was asked of them, and from which column to which palms were looked for. */
function networks(sightAt: (question: Question) => Sight) {
  const asked: string[] = [];
  const searched: (readonly [number, number])[] = [];
  const run: RunModel = (role, feeds) => {
    asked.push(role);
    const pixels = uint8Of(feeds, 'image');
    if (role === 'palm_detector')
      searched.push([pixels[0] ?? NaN, pixels[(PALM_PICTURE_SIDE - 1) * 3] ?? NaN]);
    const { palms, presence } = sightAt({ role, pixels });
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
  return { asked, searched, run };
}

/** An upright hand in its patch: the wrist below, the fingers above. */
const HAND = Array.from({ length: 21 }, (_, i) =>
  i === 0 ? [0.5, 0.85] : [0.35 + 0.06 * Math.floor((i - 1) / 4), 0.6 - 0.1 * ((i - 1) % 4)],
).flat();

const CHIN = { x: 0.5, y: 0.7 };

describe('createHandFinders', () => {
  test('a palm near the face is looked at closely, and its joints are told in pixels of the picture', async () => {
    const { run, asked } = networks(() => ({ palms: [CHIN], presence: 0.9 }));
    const [hand, ...others] = await createHandFinders(run)()(picture, 0, face);
    expect(others).toEqual([]);
    expect(asked).toEqual(['palm_detector', 'hand_landmarks']);
    expect(hand).toHaveLength(21);
    const [wrist, tip] = [hand?.[0], hand?.[12]];
    expect(wrist?.x).toBeCloseTo(100, -1);
    expect(tip?.y).toBeLessThan(wrist?.y ?? 0);
  });

  test('what looks like a palm from afar and like no hand from near is none', async () => {
    const { run } = networks(() => ({ palms: [CHIN], presence: 0.2 }));
    expect(await createHandFinders(run)()(picture, 0, face)).toEqual([]);
  });

  test('a hand near the face is followed without looking for palms, and one that is lost is looked for at once', async () => {
    let sight: Sight = { palms: [CHIN], presence: 0.9 };
    const { run, asked } = networks(() => sight);
    const find = createHandFinders(run)();
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
    const find = createHandFinders(run)();
    for (let look = 0; look < 40; look++) await find(picture, look * 0.05, face);
    expect(asked).toHaveLength(8);
  });

  test('a hand far below the face is told but not followed', async () => {
    const { run, asked } = networks(() => ({ palms: [{ x: 0.5, y: 1.1 }], presence: 0.9 }));
    const find = createHandFinders(run)();
    expect(await find(picture, 0, face)).toHaveLength(1);
    asked.length = 0;
    await find(picture, 0.08, face);
    expect(asked).toEqual([]);
  });

  test('two faces share the looks: each is told what was found for the other a moment ago', async () => {
    const { run, asked } = networks(() => ({ palms: [CHIN], presence: 0.9 }));
    const finders = createHandFinders(run);
    const [left, right] = [finders(), finders()];
    const found = await left(picture, 0, faceAt(60, 20));
    asked.length = 0;
    expect(await right(picture, 0.04, faceAt(140, 20))).toBe(found);
    expect(asked).toEqual([]);
    for (let look = 1; look <= 24; look++) {
      await left(picture, look * 0.125, faceAt(60, 20));
      await right(picture, look * 0.125, faceAt(140, 20));
    }
    expect(asked.filter((role) => role === 'palm_detector')).toHaveLength(12);
  });

  test.each([
    ['around both', 20, [[16, 184]]],
    [
      'around each in turn where one would be too small to show its hands',
      2,
      [
        [16, 104],
        [136, 144],
      ],
    ],
  ] as const)('palms are looked for %s', async (_, eyes, expected) => {
    const { run, searched } = networks(() => ({ palms: [], presence: 0 }));
    const finders = createHandFinders(run);
    const [left, right] = [finders(), finders()];
    for (let look = 0; look < 12; look++) {
      await left(picture, look * 0.1, faceAt(60, 20));
      await right(picture, look * 0.1, faceAt(140, eyes));
    }
    // At the first look, the other face is not known yet.
    const columns = searched.slice(1).map((edges) => edges.map((edge) => Math.round(edge / 2) * 2));
    for (const span of expected) expect(columns).toContainEqual(span);
    expect(new Set(columns.map(String)).size).toBe(expected.length);
  });

  test('a hand whose palm is seen late joins the looks before in which it was there, in their own pictures', async () => {
    const seen: number[] = [];
    const { run } = networks(({ role, pixels }) => {
      const shade = pixels[0] ?? NaN;
      if (role === 'hand_landmarks') seen.push(shade);
      return { palms: shade === 50 ? [CHIN] : [], presence: shade >= 30 ? 0.9 : 0.1 };
    });
    const find = createHandFinders(run)();
    // One memory for all pictures, as the decoder has.
    const shown = blankPicture(SIDE, SIDE);
    const looks = [];
    for (const shade of [10, 20, 30, 40, 50]) {
      shown.data.fill(shade);
      looks.push(await find(shown, shade / 125, face));
    }
    expect(looks.map((hands) => hands.length)).toEqual([0, 0, 1, 1, 1]);
    expect(seen).toEqual([50, 40, 30, 20]);
  });

  test('a hand far below the face is not followed back', async () => {
    const { run, asked } = networks(({ pixels }) => ({
      palms: pixels[0] === 50 ? [{ x: 0.5, y: 1.1 }] : [],
      presence: 0.9,
    }));
    const find = createHandFinders(run)();
    for (const shade of [10, 50]) {
      const shown = blankPicture(SIDE, SIDE);
      shown.data.fill(shade);
      await find(shown, shade / 125, face);
    }
    expect(asked.filter((role) => role === 'hand_landmarks')).toHaveLength(1);
  });

  test('fingers whose palm is below the picture are found without it', async () => {
    const { run, asked } = networks(() => ({ palms: [], presence: 0.9 }));
    // The picture ends one and a half distances of the eyes below the middle of the face.
    expect(await createHandFinders(run)()(blankPicture(SIDE, 130), 0, faceAt(100, 20))).toHaveLength(1);
    expect(asked).toEqual(['palm_detector', 'hand_landmarks']);
    asked.length = 0;
    expect(await createHandFinders(run)()(picture, 0, faceAt(100, 20))).toEqual([]);
    expect(asked).toEqual(['palm_detector']);
  });

  test('one hand that two palms point at is one hand', async () => {
    const { run } = networks(() => ({ palms: [CHIN, { x: 0.51, y: 0.7 }], presence: 0.9 }));
    expect(await createHandFinders(run)()(picture, 0, face)).toHaveLength(1);
  });
});
