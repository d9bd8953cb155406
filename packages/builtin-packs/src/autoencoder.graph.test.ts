import { floats, loadTestGraph, type TestGraph } from '@lipsync/engines/test/graphs';
import { decoderModel, encoderModel, LATENT_CHANNELS } from './autoencoder';
import { difference } from './test/drawn-faces';

const SIDE = 64;
const CELLS = SIDE / 8;

let encoder: TestGraph;
let decoder: TestGraph;
beforeAll(async () => {
  encoder = await loadTestGraph(encoderModel(SIDE));
  decoder = await loadTestGraph(decoderModel(SIDE));
});
afterAll(() => Promise.all([encoder, decoder].map((graph) => graph.release())));

/** [2, 3, 64, 64]: all values different, as far as `value` distinguishes them. */
const images = (value: (channel: number, x: number, y: number) => number) =>
  Float32Array.from({ length: 2 * 3 * SIDE * SIDE }, (_, i) =>
    value(Math.floor(i / (SIDE * SIDE)), i % SIDE, Math.floor(i / SIDE) % SIDE),
  );

async function thereAndBack(image: Float32Array): Promise<Float32Array> {
  const latent = await encoder.run({ image: floats(image, [2, 3, SIDE, SIDE]) });
  expect(latent).toHaveLength(2 * LATENT_CHANNELS * CELLS * CELLS);
  return decoder.run({ latent: floats(latent, [2, LATENT_CHANNELS, CELLS, CELLS]) });
}

test('brightness is restored pixel for pixel, in every picture of a batch', async () => {
  const gray = images((channel, x, y) => Math.sin(x * 7 + y * 3 + Math.floor(channel / 3)));
  expect(difference(await thereAndBack(gray), gray, SIDE)).toBeLessThan(1e-6);
});

test('color is restored for every 2×2 pixels, each channel in its place', async () => {
  const colored = images((channel, x, y) => Math.sin((x >> 1) * 5 + (y >> 1) * 11 + channel * 2));
  expect(difference(await thereAndBack(colored), colored, SIDE)).toBeLessThan(1e-6);
});

test('finer color is averaged, while brightness keeps its detail', async () => {
  const stripes = images((channel, x) => (channel % 3 === 0 && x % 2 === 0 ? 0.5 : 0));
  const back = await thereAndBack(stripes);
  const at = (channel: number, x: number): number => back[channel * SIDE * SIDE + x] ?? NaN;
  const luma = (x: number): number => 0.299 * at(0, x) + 0.587 * at(1, x) + 0.114 * at(2, x);
  expect(luma(10)).toBeCloseTo(0.299 * 0.5, 6);
  expect(luma(11)).toBeCloseTo(0, 6);
  expect(at(0, 10) - luma(10)).toBeCloseTo(at(0, 11) - luma(11), 6);
});

test('an image leaves the decoder within its range', async () => {
  const bright = await decoder.run({
    latent: floats(new Float32Array(LATENT_CHANNELS * CELLS * CELLS).fill(3), [
      1,
      LATENT_CHANNELS,
      CELLS,
      CELLS,
    ]),
  });
  expect(Math.max(...bright)).toBe(1);
});
