import { InferenceCrash } from './inference-error';
import { reportOnPack } from './report-on-pack';

/** What is said of a pack in whose child this came to pass. */
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

test('a child that is killed, as the kernel does when memory runs out, says that memory was short', async () => {
  expect(await reportAfter(new InferenceCrash({ code: null, signal: 'SIGKILL' }, ''))).toEqual({
    packDir: '/packs/official',
    problem: 'the inference process ended with SIGKILL',
    shortOfMemory: true,
  });
});
