/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { decoderModel, encoderModel, LATENT_CHANNELS, LATENT_SCALE } from '../builtin/autoencoder';
import { WIDTH } from '../builtin/speech';
import {
  type Cues,
  cueWindow,
  darkness,
  difference,
  LARGE_FACE,
  lipWidth,
  paintedFace,
  paintedLandmarks,
} from '../test/drawn-faces';
import { floats, loadTestGraph, type TestGraph, time } from '../test/graphs';
import { generatorModel } from './pack';

const { side: SIDE } = LARGE_FACE;
const AREA = SIDE * SIDE;
const LATENT = LATENT_CHANNELS * 1024;

const picture = (gap: number, angle = 0) => paintedFace(LARGE_FACE, gap, angle);
const landmarks = (gap: number, angle = 0) => paintedLandmarks(LARGE_FACE, gap, angle);
const audio = (cues: Cues) => cueWindow(cues, 'added');
const open = (image: Float32Array, angle = 0) => darkness(image, LARGE_FACE, angle);

let encoder: TestGraph;
let generator: TestGraph;
let decoder: TestGraph;
beforeAll(async () => {
  encoder = await loadTestGraph(encoderModel(SIDE));
  generator = await loadTestGraph(generatorModel());
  decoder = await loadTestGraph(decoderModel(SIDE));
});
afterAll(() => Promise.all([encoder, generator, decoder].map((graph) => graph.release())));

const scaled = (latent: Float32Array, factor: number) => latent.map((value) => value * factor);

/** Scaled latents of the crop without and with its lower half, as the engine computes them. */
async function latents(image: Float32Array): Promise<Float32Array> {
  const masked = image.map((value, i) => (i % AREA < AREA / 2 ? value : -1));
  const both = new Float32Array(2 * LATENT);
  for (const [i, part] of [masked, image].entries()) {
    const encoded = await encoder.run({ image: floats(part, [1, 3, SIDE, SIDE]) });
    both.set(scaled(encoded, LATENT_SCALE), i * LATENT);
  }
  return both;
}

const decode = (clean: Float32Array) =>
  decoder.run({ latent: floats(scaled(clean, 1 / LATENT_SCALE), [1, LATENT_CHANNELS, 32, 32]) });

/** What the engine does with one face: both latents, one step of the generator, decoding. */
async function generate(
  image: Float32Array,
  points: Float32Array,
  window: Float32Array,
): Promise<Float32Array> {
  const clean = await generator.run({
    latent: floats(await latents(image), [1, 2 * LATENT_CHANNELS, 32, 32]),
    timestep: time(0),
    audio: floats(window, [1, 50, WIDTH]),
    landmarks: floats(points, [1, 68, 2]),
  });
  return decode(clean);
}

test('closed lips stay exactly where they are in silence', async () => {
  const image = picture(0);
  expect(difference(await generate(image, landmarks(0), audio({})), image, SIDE)).toBeLessThan(1e-5);
});

test('speech opens the lips, wider if louder', async () => {
  const image = picture(0);
  const openings = [];
  for (const jaw of [0, 0.3, 0.6, 1])
    openings.push(open(await generate(image, landmarks(0), audio({ jaw }))));
  expect(openings[0]).toBe(0);
  expect(openings[2]).toBeGreaterThan((openings[1] ?? NaN) + 2);
  expect(openings[3]).toBeGreaterThan((openings[2] ?? NaN) + 2);
  expect(openings[3]).toBeLessThan(35);
});

test('an open mouth changes neither the upper half nor nose, cheeks and the rim of the crop', async () => {
  const image = picture(0);
  const wide = await generate(image, landmarks(0), audio({ jaw: 1 }));
  expect(difference(wide, image, SIDE, (_, y) => y < 148)).toBeLessThan(1e-5);
  expect(difference(wide, image, SIDE, (x) => x < 40 || x >= 216)).toBeLessThan(1e-5);
  expect(difference(wide, image, SIDE, (_, y) => y >= 247)).toBeLessThan(2e-3);
});

test('the opening follows the new speech, whether the mouth in the source was open or closed', async () => {
  const loud = audio({ jaw: 0.8 });
  const fromClosed = open(await generate(picture(0), landmarks(0), loud));
  const fromOpen = open(await generate(picture(18), landmarks(18), loud));
  expect(Math.abs(fromClosed - fromOpen)).toBeLessThan(4);
});

test('a tilted head opens its mouth along its own axis', async () => {
  const angle = 0.45;
  const tilted = await generate(picture(0, angle), landmarks(0, angle), audio({ jaw: 1 }));
  const upright = await generate(picture(0), landmarks(0), audio({ jaw: 1 }));
  expect(Math.abs(open(tilted, angle) - open(upright))).toBeLessThan(4);
});

test('rounding narrows the mouth', async () => {
  const image = picture(0);
  const round = await generate(image, landmarks(0), audio({ rounding: 1 }));
  expect(lipWidth(round, LARGE_FACE)).toBeLessThan(lipWidth(image, LARGE_FACE) - 5);
});
