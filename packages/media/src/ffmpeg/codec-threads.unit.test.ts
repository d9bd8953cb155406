import { codecThreads } from './codec-threads';

test.each([
  ['a small machine is used as x264 would use it by itself', 2, 1, 3],
  ['a large one as far as memory goes', 64, 1, 16],
  ['processes that share a machine share its cores', 16, 4, 6],
  ['nobody is left without a thread', 1, 8, 1],
])('%s', (_what, cores, processes, threads) => {
  expect(codecThreads(cores, processes)).toBe(threads);
});
