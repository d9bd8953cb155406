import { graphThreads } from './graph-threads';

const BUILT_IN = 3e6;
const PUBLISHED = 3.8e9;

test('light networks leave half of the cores to the codecs, heavy ones take all', () => {
  expect(graphThreads(BUILT_IN, 16)).toBe(8);
  expect(graphThreads(PUBLISHED, 16)).toBe(16);
});

test('there is a thread on every machine', () => {
  expect(graphThreads(BUILT_IN, 1)).toBe(1);
  expect(graphThreads(PUBLISHED, 1)).toBe(1);
});
