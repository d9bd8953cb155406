import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAnalyzerPack } from '@lipsync/builtin-packs';
import { createLogger } from '@lipsync/runtime';
import { COMPILED_CHILD } from '../test/real-child';
import { findVideoCodecs } from './child-environment';
import { createInferenceHost } from './inference-host';

/** This machine's environment with every graphics card hidden. */
const WITHOUT_CARD = { ...process.env, CUDA_VISIBLE_DEVICES: '-1' };
const SOFTWARE = {
  VIDEO_ENCODER: 'libx264',
  VIDEO_DECODER: 'software',
  VIDEO_OUTPUT: 'source',
  MEDIA_SANDBOX: 'preferred',
} as const;

describe('the video codecs of a worker without a card', () => {
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  beforeEach(() => lines.splice(0));

  it('are software when left to be found, and the log says what was tried and why it was not taken', async () => {
    const wanted = { ...SOFTWARE, VIDEO_ENCODER: 'auto', VIDEO_DECODER: 'auto' } as const;
    expect(await findVideoCodecs(wanted, WITHOUT_CARD, logger)).toEqual({
      VIDEO_ENCODER: 'libx264',
      VIDEO_DEEP_ENCODER: 'libx265',
      VIDEO_DECODER: 'software',
      VIDEO_OUTPUT: 'source',
    });
    const log = lines.join('');
    for (const codec of ['h264_nvenc', 'cuda']) expect(log).toContain(`"codec":"${codec}","reason":"`);
    expect(log).toContain(
      '"video_encoder":"libx264","video_deep_encoder":"libx265","video_decoder":"software","video_output":"source"',
    );
  });

  it('keep it from starting where the media tools cannot be confined', async () => {
    const tools = { FFMPEG_BIN: '/bin/true', FFPROBE_BIN: '/bin/true' };
    const wanted = { ...SOFTWARE, ...tools, MEDIA_SANDBOX: 'required' } as const;
    // Nothing is found on this path, so nothing that could confine them.
    const attempt = findVideoCodecs(wanted, { PATH: '/nowhere' }, logger);
    await expect(attempt).rejects.toThrow('media tools cannot be confined here');
  });
});

test('a process that ran graphs leaves no identifier of the machine, and nothing else, in its home', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'child-privacy-'));
  const home = await mkdtemp(join(folder, 'home-'));
  const environment = { PATH: process.env['PATH'], HOME: home };
  const host = createInferenceHost({ entry: COMPILED_CHILD, environment });
  try {
    await buildAnalyzerPack(join(folder, 'analyzer'));
    const { packs } = await host.verify({ jobId: 'verify', packDirs: [join(folder, 'analyzer')] });
    expect(packs).toMatchObject([{ provider: 'cpu' }]);
    expect(await readdir(home)).toEqual([]);
  } finally {
    host.kill();
    await rm(folder, { recursive: true, force: true });
  }
});
