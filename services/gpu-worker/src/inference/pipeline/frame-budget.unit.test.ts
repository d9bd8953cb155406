import { frameBudget } from './frame-budget';

const bytesOf = (width: number, height: number): number => (width * height * 3) / 2;
const MIB = 2 ** 20;

test.each([
  ['720p', bytesOf(1280, 720), 8, 32],
  ['1080p in windows', bytesOf(1920, 1080), 16, 64],
])('%s gets four batches of buffers, enough for every stage', (_, bytes, batch, buffers) => {
  expect(frameBudget(batch, bytes)).toBe(buffers);
});

test.each([8, 12, 16])('4K in batches of %d stays within a quarter of a gigabyte', (batch) => {
  const bytes = bytesOf(3840, 2160);
  expect(frameBudget(batch, bytes) * bytes).toBeLessThanOrEqual(256 * MIB);
  expect(frameBudget(batch, bytes)).toBeGreaterThan(batch);
});

test('a batch always fits, with one picture to decode and one to encode', () => {
  expect(frameBudget(16, 1024 * MIB)).toBe(18);
});
