/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { decoderModel, encoderModel, LATENT_CHANNELS, LATENT_SCALE } from '../builtin/autoencoder';
import { WIDTH } from '../builtin/speech';
import {
  allOf,
  type Cues,
  darkness,
  difference,
  type Frame,
  furthest,
  paintedFace,
  paintedFrame,
  swapped,
} from '../test/drawn-faces';
import { expectedLoop, floats, guidedLoop, loadTestGraph, type TestGraph, time } from '../test/graphs';
import {
  denoisingUnetModel,
  GUIDANCE,
  LATENT_SIDE,
  MASK,
  referenceUnetModel,
  RESOLUTION,
  SCHEDULE,
  TOKENS,
  unconditionalUnetModel,
  WINDOW,
} from './pack';

const FACE = { side: RESOLUTION, x: 128, y: 180, half: 34 };
const AREA = LATENT_SIDE * LATENT_SIDE;
const PICTURE = 3 * RESOLUTION * RESOLUTION;
const LATENT_DIMS = [1, LATENT_CHANNELS, WINDOW, LATENT_SIDE, LATENT_SIDE];

const graphs: Record<'encoder' | 'reference' | 'conditional' | 'unconditional' | 'decoder', Uint8Array> = {
  encoder: encoderModel(RESOLUTION),
  reference: referenceUnetModel(),
  conditional: denoisingUnetModel(SCHEDULE, GUIDANCE),
  unconditional: unconditionalUnetModel(SCHEDULE),
  decoder: decoderModel(RESOLUTION),
};
const loaded = new Map<keyof typeof graphs, TestGraph>();
const run = (name: keyof typeof graphs, feeds: Parameters<TestGraph['run']>[0]): Promise<Float32Array> => {
  const graph = loaded.get(name);
  if (!graph) throw new Error(`${name} is not loaded`);
  return graph.run(feeds);
};
beforeAll(async () => {
  for (const name of Object.keys(graphs) as (keyof typeof graphs)[])
    // The keys are those that the record was made with.
    loaded.set(name, await loadTestGraph(graphs[name]));
});
afterAll(() => Promise.all([...loaded.values()].map((graph) => graph.release())));

const frame = (gap: number, cues: Cues): Frame => paintedFrame(FACE, gap, cues);

/** A window as the engine prepares it. The last frame is repeated for missing ones. */
async function windowOf(some: readonly Frame[]) {
  const frames = Array.from({ length: WINDOW }, (_, i) => some[Math.min(i, some.length - 1)] ?? frame(0, {}));
  const encoded = await run('encoder', {
    image: floats(allOf(frames, 'picture'), [WINDOW, 3, RESOLUTION, RESOLUTION]),
  });
  const latents = encoded.map((value) => value * LATENT_SCALE);
  const bank = await run('reference', {
    latent: floats(latents, [WINDOW, LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
  });
  const audio = allOf(frames, 'audio');
  const landmarks = allOf(frames, 'landmarks');
  const audioDims = [1, WINDOW, 50, WIDTH];
  return {
    reference: swapped(latents, WINDOW, AREA),
    without: (at: number, latent: Float32Array) =>
      run('unconditional', {
        latent: floats(latent, LATENT_DIMS),
        timestep: time(at),
        audio: floats(new Float32Array(audio.length), audioDims),
      }),
    given: (at: number, latent: Float32Array) =>
      run('conditional', {
        latent: floats(latent, LATENT_DIMS),
        timestep: time(at),
        audio: floats(audio, audioDims),
        bank_0: floats(bank, [WINDOW, TOKENS, LATENT_CHANNELS]),
        landmarks: floats(landmarks, [1, WINDOW, 68, 2]),
      }),
  };
}

/** Runs the loop over one window: returns every latent on the way, and the final pictures of the frames. */
async function render(frames: readonly Frame[], steps: number) {
  const { reference, without, given } = await windowOf(frames);
  const passed = await guidedLoop({ ...SCHEDULE, steps }, GUIDANCE, reference.length, async (at, latent) => [
    await without(at, latent),
    await given(at, latent),
  ]);
  const clean = swapped(passed[steps] ?? reference, LATENT_CHANNELS, AREA);
  const images = await run('decoder', {
    latent: floats(
      clean.map((value) => value / LATENT_SCALE),
      [WINDOW, LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE],
    ),
  });
  return { passed, pictures: frames.map((_, i) => images.slice(i * PICTURE, (i + 1) * PICTURE)) };
}

/** What the network treats as clean: at the first timestep, where no signal is left, it is the negative of v. */
async function target(frames: readonly Frame[]): Promise<Float32Array> {
  const { reference, given } = await windowOf(frames);
  const told = await given(999, reference);
  return told.map((value) => -value * GUIDANCE);
}

const SPEECH = [frame(0, {}), frame(0, { opening: 0.5 }), frame(14, { opening: 1 })];

test.each([4, 10, 20])(
  'after %i guided steps the window is the analytic target, and each step is on the expected way',
  async (steps) => {
    const clean = await target(SPEECH);
    const { passed } = await render(SPEECH, steps);
    const expected = expectedLoop({ ...SCHEDULE, steps }, passed[0] ?? clean, clean);
    passed.forEach((latent, i) => expect(furthest(latent, expected[i] ?? clean)).toBeLessThan(5e-6));
  },
);

test('silence keeps closed lips exactly as they are, and closes an open mouth', async () => {
  const { pictures } = await render([frame(0, {}), frame(14, {})], 4);
  const [still, closed] = pictures;
  expect(difference(still ?? NONE, paintedFace(FACE, 0), RESOLUTION)).toBeLessThan(1e-4);
  expect(darkness(paintedFace(FACE, 14), FACE)).toBeGreaterThan(10);
  expect(darkness(closed ?? NONE, FACE)).toBe(0);
});

test('each frame opens its mouth as its own audio calls for', async () => {
  const { pictures } = await render(
    [1, 0, 0.5].map((opening) => frame(0, { opening })),
    4,
  );
  const [wide = NaN, shut = NaN, half = NaN] = pictures.map((picture) => darkness(picture, FACE));
  expect(shut).toBe(0);
  expect(half).toBeGreaterThan(shut);
  expect(wide).toBeGreaterThan(half + 2);
});

test('cells outside the mask are predicted as those of the reference', async () => {
  const { reference } = await windowOf(SPEECH);
  const inside = (i: number): boolean => {
    const [row, column] = [Math.floor(i / LATENT_SIDE) % LATENT_SIDE, i % LATENT_SIDE];
    return row >= MASK.top && row <= MASK.bottom && column >= MASK.left && column <= MASK.right;
  };
  const clean = await target(SPEECH);
  expect(furthest(clean, reference, (i) => !inside(i))).toBeLessThan(1e-6);
  expect(furthest(clean, reference, inside)).toBeGreaterThan(0.01);
});

test('a bank keeps the frames of a batch separate, and every cell in its place', async () => {
  const latents = Float32Array.from({ length: 2 * LATENT_CHANNELS * AREA }, (_, i) => i);
  const bank = await run('reference', {
    latent: floats(latents, [2, LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
  });
  const [channel, cell] = [70, 401];
  expect(bank[TOKENS * LATENT_CHANNELS + cell * LATENT_CHANNELS + channel]).toBe(
    (LATENT_CHANNELS + channel) * AREA + cell,
  );
});

const NONE = Float32Array.of(NaN);
