import { writeFile } from 'node:fs/promises';
import { testFolder } from '@lipsync/testkit';
import { checkPack, reportOnPack } from './check-pack';
import { InferenceCrash } from './inference-error';

const at = testFolder();

test('a check that was given up before it began ends its child at once', async () => {
  await writeFile(at('deaf.js'), "process.on('message', () => undefined);");
  const given = { entry: at('deaf.js'), signal: AbortSignal.abort() };
  expect(await checkPack('/packs/official', given)).toMatchObject({
    problem: 'the inference process ended with SIGKILL',
  });
});

/** The report on a pack whose child failed with this error. */
const reportAfter = (error: Error) =>
  reportOnPack('/packs/official', { verify: () => Promise.reject(error) });

test.each(['SIGSEGV', 'SIGABRT'] as const)(
  'a child that dies of a pack by %s is the fault of the pack',
  async (signal) => {
    expect(await reportAfter(new InferenceCrash({ code: null, signal }, ''))).toEqual({
      packDir: '/packs/official',
      problem: `the inference process ended with ${signal}`,
    });
  },
);

test.each([
  ['is killed, as the kernel does when memory runs out', 'SIGKILL', ''],
  ['could not have what a C++ library asked for', 'SIGABRT', "instance of 'std::bad_alloc'"],
  ['reached the limit of its heap', 'SIGABRT', 'Allocation failed - JavaScript heap out of memory'],
] as const)('a child that %s says that memory was short', async (_, signal, stderr) => {
  expect(await reportAfter(new InferenceCrash({ code: null, signal }, stderr))).toEqual({
    packDir: '/packs/official',
    problem: `the inference process ended with ${signal}`,
    shortOfMemory: true,
  });
});
