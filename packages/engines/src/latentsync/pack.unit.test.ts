/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { BLOCK, decoderModel, encoderModel, LATENT_CHANNELS, LATENT_SCALE } from '../builtin/autoencoder';
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
import { faceMask, GUIDANCE, INPUT_CHANNELS, RESOLUTION, SCHEDULE, unet3dModel } from './pack';

describe('builtin params', () => {
  const { size, spans } = faceMask();
  const generated = (row: number, column: number): boolean =>
    spans.some(([at, first, last]) => at === row && column >= first && column <= last);

  test('the mask covers as much of the face as the published one', () => {
    const area = spans.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
    expect(Math.abs(area / size ** 2 - 0.407)).toBeLessThan(0.002);
  });

  test('the mask equals the published one at every eighth pixel, where the latent mask is sampled', () => {
    const cells = (row: number): number[] =>
      Array.from({ length: 32 }, (_, i) => i).filter((column) => generated(row * 8, column * 8));
    const range = (first: number, last: number): number[] =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const published: [number, number[]][] = [
      [11, []],
      [12, [...range(2, 9), ...range(23, 30)]],
      [15, [...range(2, 9), ...range(23, 30)]],
      [16, range(2, 30)],
      [22, range(2, 30)],
      [23, range(3, 29)],
      [24, range(4, 28)],
      [25, range(5, 27)],
      [26, range(5, 27)],
      [27, range(7, 25)],
      [28, range(8, 24)],
      [29, range(10, 22)],
      [30, range(13, 20)],
      [31, []],
    ];
    for (const [row, columns] of published) expect([row, cells(row)]).toEqual([row, columns]);
  });

  test('the mask covers every row from the cheeks to the chin, without overlaps', () => {
    const rows = new Set(spans.map(([row]) => row));
    expect([...rows].sort((a, b) => a - b)).toEqual(Array.from({ length: 242 - 95 + 1 }, (_, i) => 95 + i));
    expect(spans).toHaveLength(rows.size + (127 - 95 + 1));
  });
});

describe('unet3d', () => {
  /** An aligned face: the mouth is smaller than in a tight crop. */
  const FACE = { side: RESOLUTION, x: 128, y: 150, half: 28 };
  const LATENT_SIDE = RESOLUTION / BLOCK;
  const AREA = LATENT_SIDE * LATENT_SIDE;
  const PICTURE = 3 * RESOLUTION * RESOLUTION;

  let encoder: TestGraph;
  let unet: TestGraph;
  let decoder: TestGraph;
  beforeAll(async () => {
    encoder = await loadTestGraph(encoderModel(RESOLUTION));
    unet = await loadTestGraph(unet3dModel(SCHEDULE, GUIDANCE));
    decoder = await loadTestGraph(decoderModel(RESOLUTION));
  });
  afterAll(() => Promise.all([encoder, unet, decoder].map((graph) => graph.release())));

  const frame = (gap: number, cues: Cues): Frame => paintedFrame(FACE, gap, cues);

  /** A window of frames as the engine prepares it. */
  async function windowOf(frames: readonly Frame[]) {
    const count = frames.length;
    const pictures = allOf(frames, 'picture');
    const encoded = await encoder.run({ image: floats(pictures, [count, 3, RESOLUTION, RESOLUTION]) });
    const reference = swapped(
      encoded.map((value) => value * LATENT_SCALE),
      count,
      AREA,
    );
    const audio = allOf(frames, 'audio');
    const landmarks = allOf(frames, 'landmarks');
    const predict = (at: number, latent: Float32Array, heard: Float32Array) => {
      const input = new Float32Array(INPUT_CHANNELS * count * AREA);
      input.set(latent);
      input.set(reference, input.length - reference.length);
      return unet.run({
        latent: floats(input, [1, INPUT_CHANNELS, count, LATENT_SIDE, LATENT_SIDE]),
        timestep: time(at),
        audio: floats(heard, [count, 50, WIDTH]),
        landmarks: floats(landmarks, [count, 68, 2]),
      });
    };
    return { reference, audio, predict };
  }

  /** Runs the loop over a window: returns every latent on the way, and the final pictures. */
  async function render(frames: readonly Frame[], steps: number) {
    const { reference, audio, predict } = await windowOf(frames);
    const silence = new Float32Array(audio.length);
    const passed = await guidedLoop(
      { ...SCHEDULE, steps },
      GUIDANCE,
      reference.length,
      async (at, latent) => [await predict(at, latent, silence), await predict(at, latent, audio)],
    );
    const clean = swapped(passed[steps] ?? reference, LATENT_CHANNELS, AREA).map(
      (value) => value / LATENT_SCALE,
    );
    const images = await decoder.run({
      latent: floats(clean, [frames.length, LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
    });
    return { passed, pictures: frames.map((_, i) => images.slice(i * PICTURE, (i + 1) * PICTURE)) };
  }

  /** What the network treats as clean: for a latent of zeros at step 501 it is −guidance · ε · √(1−α) / √α. */
  async function target(frames: readonly Frame[]): Promise<Float32Array> {
    const { reference, audio, predict } = await windowOf(frames);
    const told = await predict(501, new Float32Array(reference.length), audio);
    const alpha = 0.27499884; // of the published schedule, at step 501
    return told.map((value) => (-value * GUIDANCE * Math.sqrt(1 - alpha)) / Math.sqrt(alpha));
  }

  const SPEECH = [frame(0, {}), frame(0, { opening: 0.5 }), frame(12, { opening: 1 })];

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
    const { pictures } = await render([frame(0, {}), frame(12, {})], 4);
    const [still, closed] = pictures;
    expect(difference(still ?? PIXEL, paintedFace(FACE, 0), RESOLUTION)).toBeLessThan(1e-4);
    expect(darkness(paintedFace(FACE, 12), FACE)).toBeGreaterThan(10);
    expect(darkness(closed ?? PIXEL, FACE)).toBe(0);
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

  test('the face around the mouth stays unchanged', async () => {
    const { pictures } = await render([frame(0, { opening: 1 })], 4);
    const outside = (x: number, y: number) => y < 124 || y >= 200 || x < 64 || x >= 192;
    expect(difference(pictures[0] ?? PIXEL, paintedFace(FACE, 0), RESOLUTION, outside)).toBeLessThan(1e-4);
  });

  test('without audio the network predicts nothing but noise', async () => {
    const { reference, predict, audio } = await windowOf([frame(0, { opening: 1 })]);
    const noise = reference.map((_, i) => Math.sin(i));
    const alpha = 0.27499884;
    const told = await predict(501, noise, new Float32Array(audio.length));
    const all = noise.map((value) => value / Math.sqrt(1 - alpha));
    expect(furthest(told, all)).toBeLessThan(1e-6);
  });

  const PIXEL = Float32Array.of(NaN);
});
