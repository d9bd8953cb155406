import { createServer } from 'node:net';
import { listenOnLoopback, testFolder } from '@lipsync/testkit';
import { writeTool } from '../test/tools';
import { resolveBinaries } from './binaries';
import { runToEnd } from './media-child';
import { detectSandbox } from './sandbox';

const at = testFolder();
beforeAll(async () => {
  for (const tool of ['ffmpeg', 'ffprobe']) await writeTool(at(tool), '');
});

/** An environment in which nothing but the media tools themselves is found. */
const bare = (): Record<string, string> => ({
  PATH: at(),
  FFMPEG_BIN: at('ffmpeg'),
  FFPROBE_BIN: at('ffprobe'),
});

test('media tools that the machine cannot confine are refused, and the reason says what is missing', async () => {
  await expect(resolveBinaries({ ...bare(), MEDIA_SANDBOX: 'required' })).rejects.toThrow(
    /cannot be confined here: neither enosys nor unshare .*; prlimit .*MEDIA_SANDBOX=preferred/,
  );
});

test('they run all the same where a setting says so', async () => {
  expect(await resolveBinaries({ ...bare(), MEDIA_SANDBOX: 'preferred' })).toMatchObject({ sandbox: {} });
});

/** Not every machine that runs the tests offers this; the check of the images (deploy/docker) does so everywhere. */
const whereOffered = detectSandbox(process.env['PATH'] ?? '').offline === undefined ? test.skip : test;

whereOffered('a confined tool reaches nothing, not even a server on its own machine', async () => {
  let reached = false;
  const server = createServer(() => (reached = true));
  const port = await listenOnLoopback(server);
  const binaries = await resolveBinaries({ ...process.env, MEDIA_SANDBOX: 'required' });
  const connect = `require('net').connect(${port}, '127.0.0.1').on('error', () => process.exit(7))`;
  const { exit } = await runToEnd(
    binaries,
    [process.execPath, '-e', connect],
    { folder: at(), deadlineMs: 20_000 },
    1024,
  );
  server.close();
  expect({ reached, ...exit }).toMatchObject({ reached: false, ended: 'exit', code: 7 });
});
