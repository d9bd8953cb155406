import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeNumberedVideo } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from './binaries';
import { openFrameReader } from './frame-reader';
import { inspect } from './inspect';
import { resolveVideoCodecs } from './resolve-video-codecs';
import { createTrialClip, decodeTrialClip, trialFrames } from './trial-clip';
import { SOFTWARE_CODECS } from './video-codecs';

const DEADLINE_MS = 60_000;
/** What ffmpeg says when there is no driver or no card; a mistake in our arguments reads differently. */
const NO_CARD = /libcuda|CUDA_ERROR|No capable devices/;

let binaries: Binaries;
let folder: string;

beforeAll(async () => {
  binaries = await resolveBinaries({ PATH: process.env['PATH'], FFMPEG_BIN: process.env['FFMPEG_BIN'] });
  folder = await mkdtemp(join(tmpdir(), 'video-codecs-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The same machine with no card to be seen, whatever it has. */
const withoutCard = (): Binaries => ({ ...binaries, deviceEnvironment: { CUDA_VISIBLE_DEVICES: '-1' } });

describe('on a machine whose card cannot be used', () => {
  it('auto takes software and says what it passed over and why', async () => {
    const resolved = await resolveVideoCodecs(withoutCard(), { encoder: 'auto', decoder: 'auto' });
    expect(resolved.codecs).toEqual(SOFTWARE_CODECS);
    expect(resolved.passedOver.map(({ codec }) => codec)).toEqual(['h264_nvenc', 'cuda']);
    for (const { reason } of resolved.passedOver) expect(reason).toMatch(NO_CARD);
  });

  it.each([
    ['VIDEO_ENCODER=h264_nvenc', { encoder: 'h264_nvenc', decoder: 'software' }],
    ['VIDEO_DECODER=cuda', { encoder: 'libx264', decoder: 'cuda' }],
  ] as const)('%s is refused with the reason, instead of failing every render', async (setting, wanted) => {
    const resolving = resolveVideoCodecs(withoutCard(), wanted);
    await expect(resolving).rejects.toThrow(
      new RegExp(`^${setting} does not work here: .*(${NO_CARD.source})`),
    );
  });
});

describe('a reader that was told to use a card', () => {
  const onCard = (tools: Binaries): Binaries => ({
    ...tools,
    codecs: { ...SOFTWARE_CODECS, decoder: 'cuda' },
  });

  async function read(tools: Binaries): Promise<Uint8Array[]> {
    const file = join(folder, 'numbered.mp4');
    const { video } = await inspect(tools, file);
    if (video === undefined) throw new Error('no video');
    const layout = { format: 'yuv420p' } as const;
    const reader = openFrameReader(tools, file, video, { layout, deadlineMs: DEADLINE_MS });
    const frames: Uint8Array[] = [];
    for (;;) {
      const frame = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(frame))) break;
      frames.push(frame);
    }
    await reader.close();
    return frames;
  }

  beforeAll(() => makeNumberedVideo(join(folder, 'numbered.mp4'), { frames: 20, rate: '30' }));

  it('goes on in software when there is none, with the same frames', async () => {
    expect(await read(onCard(withoutCard()))).toEqual(await read(binaries));
  });

  it('goes on in software from the very frame at which the card gives up', async () => {
    // Stands in for a card: decodes what it is told to decode on one, and dies within the eighth frame.
    const dying = join(folder, 'dying-card.sh');
    const frameBytes = (192 * 64 * 3) / 2;
    const script = [
      '#!/bin/sh',
      `case "$*" in *-hwaccel*) ;; *) exec "${binaries.ffmpeg}" "$@" ;; esac`,
      'for a in "$@"; do shift; case "$a" in -hwaccel|cuda) ;; *) set -- "$@" "$a" ;; esac; done',
      `"${binaries.ffmpeg}" "$@" 2>/dev/null | head -c ${7.5 * frameBytes}`,
      'exit 1',
    ];
    await writeFile(dying, script.join('\n'), { mode: 0o755 });
    const frames = await read(onCard({ ...binaries, ffmpeg: dying }));
    expect(frames).toHaveLength(17);
    expect(frames).toEqual(await read(binaries));
  });
});

it('software is taken untried, so that a worker without a card starts at once', async () => {
  const nowhere = { ...binaries, ffmpeg: join(folder, 'no-ffmpeg') };
  const resolved = await resolveVideoCodecs(nowhere, { encoder: 'libx264', decoder: 'software' });
  expect(resolved).toEqual({ codecs: SOFTWARE_CODECS, passedOver: [] });
});

it('a trial ends well with a codec that works: every frame comes out', async () => {
  const clip = await createTrialClip(binaries, folder, 'libx264');
  expect(await decodeTrialClip(binaries, clip, 'software')).toHaveLength(trialFrames().length);
});

it('the names that a process is started with must be of codecs: "auto" was resolved before', async () => {
  const resolving = resolveBinaries({ PATH: process.env['PATH'], VIDEO_ENCODER: 'auto' });
  await expect(resolving).rejects.toThrow('VIDEO_ENCODER is none of libx264, h264_nvenc');
});
