import { syntheticTrack } from '@lipsync/engines/test';
import { type Box, type Patch, type RgbPicture } from '@lipsync/kernels';
import { landmarkBounds } from './face-geometry';
import { createFaceTracker } from './face-tracker';

const PICTURE: RgbPicture = { width: 640, height: 360, data: new Uint8Array(0) };
const PARAMS = {
  detector: {
    inputSizes: [416],
    stride: 32,
    scoreThreshold: 0.3,
    overlapThreshold: 0.4,
    boxScale: 1.2,
    closeUp: { inputSize: 160, scale: 1.8, scoreThreshold: 0.15, sureScore: 0.6 },
  },
  landmarks: { inputSize: 112, scale: 1.2, maxDisagreement: 0.03, maxDisagreementBlurred: 0.045 },
};

const ANNA: Box = { x1: 80, y1: 100, x2: 200, y2: 220 };
const BERT: Box = { x1: 400, y1: 100, x2: 480, y2: 180 };
const SMALL: Box = { x1: 560, y1: 100, x2: 590, y2: 130 };
const BERT_AT = (x1: number): Box => ({ ...BERT, x1, x2: x1 + 80 });
const pointsIn = (box: Box): Float32Array => syntheticTrack({ frames: 1, ...PICTURE, box }).landmarks;

/** Anna sits, and nobody else's face is where hers is. */
function isAnna({ x1, y1 }: Box): boolean {
  const hers = landmarkBounds(pointsIn(ANNA));
  return x1 === hers.x1 && y1 === hers.y1;
}

/** Networks that see the people who are in the picture, according to `present` at the time of the call. */
function scene(rate = 25) {
  let shown = 0;
  let present: readonly Box[] = [];
  let overlooked: Box | null = null;
  let looks = 0;
  /** How often each face was looked at and seen, by its number. */
  const looksAt = new Map<number, number>();
  const standsAt = ({ x, y }: Patch) =>
    present.find(({ x1, y1, x2, y2 }) => x > x1 && x < x2 && y > y1 && y < y2);
  const track = createFaceTracker(
    {
      detect: async () => {
        looks++;
        return present.filter((box) => box !== overlooked).map((box) => ({ box, score: 0.9 }));
      },
      closeUpScore: async (_, patch) => (standsAt(patch) ? 0.9 : 0),
    },
    async (_, patch) => {
      const box = standsAt(patch);
      return { points: pointsIn(box ?? ANNA), agree: box !== undefined };
    },
    PARAMS,
  );
  /** Shows people who stay in place or walk for a while. Returns in how many frames each of them was followed. */
  const show = async (
    people: readonly Box[] | ((frame: number) => readonly Box[]),
    frames: number,
    newShot = false,
    isNew = false,
  ) => {
    const followed = { anna: 0, bert: 0, nobody: 0 };
    for (let frame = 0; frame < frames; frame++) {
      present = typeof people === 'function' ? people(frame) : people;
      const news = { shot: newShot && frame === 0, face: isNew };
      const { looks: all, main } = await track(PICTURE, shown++ / rate, news);
      for (const { face, points } of all) if (points) looksAt.set(face, (looksAt.get(face) ?? 0) + 1);
      if (main === null) followed.nobody++;
      else if (isAnna(main)) followed.anna++;
      else followed.bert++;
    }
    return followed;
  };
  return {
    show,
    /** From now on the detector does not see this one. */
    overlook: (box: Box | null): void => void (overlooked = box),
    looks: () => looks,
    looksAt: () => looksAt,
  };
}

describe('of two people', () => {
  test('the one beside the main face is not taken for it while that is hidden', async () => {
    const { show } = scene();
    await show([ANNA, BERT], 6, true);
    expect(await show([BERT], 60)).toEqual({ anna: 0, bert: 0, nobody: 60 });
    expect(await show([BERT, ANNA], 5)).toEqual({ anna: 5, bert: 0, nobody: 0 });
  });

  test('one who joins later is not taken for the main face either', async () => {
    const { show } = scene();
    await show([ANNA], 30, true);
    await show([ANNA, BERT], 30);
    expect(await show([BERT], 60)).toEqual({ anna: 0, bert: 0, nobody: 60 });
  });

  test('the one who walks is known wherever he has come when the main face is hidden', async () => {
    const { show } = scene();
    const x = (frame: number): number => 540 - 3 * frame;
    await show((frame) => [ANNA, BERT_AT(x(frame))], 48, true);
    expect(await show((frame) => [BERT_AT(x(48 + frame))], 20)).toEqual({ anna: 0, bert: 0, nobody: 20 });
    expect(await show([BERT_AT(x(68)), ANNA], 5)).toEqual({ anna: 5, bert: 0, nobody: 0 });
  });

  test('the one who walks past the main face, and hides it, is not taken for it', async () => {
    const { show } = scene();
    const x = (frame: number): number => 400 - 5 * frame;
    await show((frame) => [ANNA, BERT_AT(x(frame))], 51, true);
    expect(await show((frame) => [BERT_AT(x(51 + frame))], 20)).toEqual({ anna: 0, bert: 0, nobody: 20 });
    expect(await show([ANNA, BERT_AT(x(75))], 5)).toEqual({ anna: 5, bert: 0, nobody: 0 });
  });

  test('the one who is overlooked now and then stays known, the one who is gone does not', async () => {
    for (const [away, followed] of [
      [10, { anna: 0, bert: 0, nobody: 30 }],
      [15, { anna: 0, bert: 30, nobody: 0 }],
    ] as const) {
      const { show } = scene();
      await show([ANNA, BERT], 8, true);
      await show([ANNA], away);
      expect(await show([BERT], 30)).toEqual(followed);
    }
  });

  test.each([10, 25, 60])(
    'the one who stays becomes the main face when the other has been away for three seconds, at %i pictures a second',
    async (rate) => {
      const { show } = scene(rate);
      await show([ANNA, BERT], rate / 5 + 1, true);
      expect(await show([BERT], 4 * rate)).toEqual({ anna: 0, bert: rate, nobody: 3 * rate });
    },
  );

  test('a new shot is looked at with fresh eyes', async () => {
    const { show } = scene();
    await show([ANNA, BERT], 5, true);
    expect(await show([BERT], 5, true)).toEqual({ anna: 0, bert: 5, nobody: 0 });
  });
});

test('the main face is not looked at where another one has its turn, unless there may be something else in its place', async () => {
  for (const [others, isNew, looks] of [
    [[BERT], false, 20],
    [[BERT, BERT_AT(240)], false, 20],
    [[BERT, BERT_AT(240), BERT_AT(520)], false, 15],
    [[BERT], true, 30],
  ] as const) {
    const { show, looksAt } = scene();
    await show([ANNA, ...others], 30, true, isNew);
    expect([...looksAt().values()][0]).toBe(looks);
  }
});

test('a main face that goes is missed after two pictures at most, at 10 pictures a second in the next one', async () => {
  for (const [rate, most] of [
    [25, 1],
    [10, 0],
  ] as const)
    for (let shown = 3; shown < 9; shown++) {
      const { show } = scene(rate);
      await show([ANNA, BERT], shown, true);
      expect((await show([BERT], 9)).anna).toBeLessThanOrEqual(most);
    }
});

describe('the faces beside the main one', () => {
  test('are looked at every third time, and keep their numbers', async () => {
    const { show, looksAt } = scene();
    await show([ANNA, BERT], 21, true);
    const [anna, bert] = looksAt().keys();
    expect([anna, bert].map((face) => looksAt().get(face ?? NaN))).toEqual([14, 8]);
    await show([ANNA], 40);
    await show([ANNA, BERT], 20);
    expect([...looksAt().keys()]).toEqual([anna, bert]);
  });

  test.each([5, 10, 12, 16, 25, 60])(
    'are looked at often enough to know them in between, at %i pictures a second',
    async (rate) => {
      const { show, looksAt } = scene(rate);
      const others = [240, 400, 520].map(BERT_AT);
      await show([ANNA, ...others], 4 * rate, true);
      // Between two looks at a face are pictures of at most 0.2 seconds.
      const most = Math.floor(0.2 * rate + 1 + 1e-6);
      expect(looksAt().size).toBe(4);
      for (const times of looksAt().values()) expect(times).toBeGreaterThanOrEqual((4 * rate) / most - 1);
    },
  );

  test('keep their numbers if the detector overlooks them for a while', async () => {
    const { show, overlook, looksAt } = scene();
    await show([ANNA, BERT], 20, true);
    overlook(BERT);
    await show([ANNA, BERT], 60);
    overlook(null);
    await show([ANNA, BERT], 60);
    expect(looksAt().size).toBe(2);
  });

  test('are not the main face once more where landmarks slip to it', async () => {
    const { show, looksAt } = scene();
    await show([ANNA, { x1: 90, y1: 110, x2: 135, y2: 155 }], 50, true);
    expect([...looksAt().values()]).toEqual([50]);
  });

  test('are not followed if they are small', async () => {
    const { show, looksAt } = scene();
    await show([ANNA, SMALL], 50, true);
    expect([...looksAt().values()]).toEqual([50]);
  });

  test('become the main face under their number', async () => {
    const { show, looksAt } = scene();
    await show([ANNA, BERT], 20, true);
    await show([BERT], 100);
    expect(looksAt().size).toBe(2);
  });

  test('are other people in another shot', async () => {
    const { show, looksAt } = scene();
    await show([ANNA, BERT], 20, true);
    await show([ANNA, BERT], 20, true);
    expect(looksAt().size).toBe(4);
  });
});

test('somebody alone is found again elsewhere at once', async () => {
  const { show } = scene();
  await show([ANNA], 60, true);
  await show([], 10);
  expect(await show([BERT], 5)).toEqual({ anna: 0, bert: 5, nobody: 0 });
});

test.each([
  ['alone one run in two seconds', [ANNA], 4],
  ['beside another followed face five runs in six seconds', [ANNA, BERT], 6],
  ['beside a small one five runs in a second', [ANNA, SMALL], 40],
])('a followed face costs the detector for whole frames %s', async (_, people, runs) => {
  for (const rate of [25, 50]) {
    const { show, looks } = scene(rate);
    await show(people, 8 * rate + 1, true);
    expect(looks()).toBe(1 + runs);
  }
});
