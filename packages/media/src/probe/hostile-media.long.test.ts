import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import {
  DURATION_LIE_SECONDS,
  ffmpeg,
  HOSTILE_MEDIA,
  type HostileMedia,
  makeHostileMedia,
  makeNumberedVideo,
  makeTone,
  mutateBytes,
  testFolder,
} from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { probeVerdict } from '../test/media-files';
import { probe } from './probe';

const DEADLINE_MS = 60_000;
jest.setTimeout(DEADLINE_MS);

let binaries: Binaries;
const at = testFolder();
let hostile: HostileMedia;
let canary: Server;
let canaryRequests = 0;

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  canary = createServer((_request, response) => {
    canaryRequests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const address = canary.address();
  if (address === null || typeof address === 'string') throw new Error('the canary listens nowhere');
  hostile = await makeHostileMedia(`http://127.0.0.1:${address.port}/canary.mp4`);
}, 180_000);

afterAll(async () => {
  await new Promise((resolve) => canary.close(resolve));
  await rm(hostile.folder, { recursive: true, force: true });
});

const verdict = (file: string, mediaType: 'video' | 'audio'): Promise<string> =>
  probeVerdict(binaries, file, mediaType);

/** Everything in a WebM before its first pictures. */
const HEADERS_BYTES = 600;

/** A fixed sequence (a linear congruential generator), so that a failure repeats. */
function randomNumbers(): (below: number) => number {
  let state = 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state % below;
  };
}

/** Overwrites the table of this name in an MP4's index; bytes after its first entry stay and are not read. */
function patchTable(file: Buffer, name: string, values: readonly number[]): void {
  const table = file.indexOf(name) + 4;
  values.forEach((value, i) => file.writeUInt32BE(value, table + 4 * (i + 1)));
}

describe('hostile and broken media', () => {
  const SAMPLES = 80_000_000;
  const shortClip = (movflags: string, tracks: readonly [number, number]): string[] => [
    ...'-f lavfi -i testsrc2=size=64x64:rate=25:duration=1 -f lavfi -i sine=duration=1'.split(' '),
    ...tracks.flatMap((track) => ['-map', `${track}`]),
    ...['-movflags', movflags, '-g', '5'],
  ];

  it.each<[string, readonly [number, number]]>([
    ['pictures', [0, 1]],
    ['sound', [1, 0]],
  ])('an index of a few bytes that claims millions of samples of %s is damaged', async (_, tracks) => {
    const path = at(`claims-${tracks[0]}.mp4`);
    await ffmpeg([...shortClip('+faststart', tracks), path]);
    // The first track's tables come first.
    const file = await readFile(path);
    patchTable(file, 'stts', [1, SAMPLES, 1]);
    patchTable(file, 'stsc', [1, 1, SAMPLES, 1]);
    patchTable(file, 'stsz', [1, SAMPLES]);
    await writeFile(path, file);
    expect(await verdict(path, 'video')).toBe('media_corrupt');
  });

  it.each(['first', 'last'])(
    'millions of samples without a size in the %s fragment are damage',
    async (which) => {
      const path = at(`fragments-${which}.mp4`);
      await ffmpeg([...shortClip('+frag_keyframe+empty_moov+default_base_moof', [0, 1]), path]);
      const file = await readFile(path);
      const run = which === 'first' ? file.indexOf('trun') : file.lastIndexOf('trun');
      // Flags: neither sizes nor durations of samples follow.
      file.writeUInt32BE(1, run + 4);
      file.writeUInt32BE(SAMPLES, run + 8);
      await writeFile(path, file);
      expect(await verdict(path, 'video')).toBe('media_corrupt');
    },
  );

  it.each([NaN, Infinity, 1e15])(
    'a sound with a sample of %d is damaged: no network and no encoder takes it',
    async (sample) => {
      const path = at(`sample-${sample}.wav`);
      await ffmpeg(['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'pcm_f32le', path]);
      const file = await readFile(path);
      file.writeFloatLE(sample, file.length - 4000);
      await writeFile(path, file);
      expect(await verdict(path, 'audio')).toBe('media_corrupt');
    },
  );

  it.each(HOSTILE_MEDIA)('%s offered as %s is refused with %s', async (name, mediaType, code) => {
    expect(await verdict(hostile[name], mediaType)).toBe(code);
  });

  it('never asks an address that a playlist or a concat script names', async () => {
    await verdict(hostile.hlsHttp, 'video');
    await verdict(hostile.ffconcatHttp, 'video');
    expect(canaryRequests).toBe(0);
  });

  it('measures the packets and not the header of a file that lies about its duration', async () => {
    const { video } = await probe(binaries, hostile.durationLie, {
      mediaType: 'video',
      deadlineMs: DEADLINE_MS,
    });
    expect(video?.durationSeconds).toBeCloseTo(DURATION_LIE_SECONDS, 3);
    expect(video?.frames).toBe(DURATION_LIE_SECONDS * 25);
  });

  it('takes a sound for damaged if a quarter of it does not decode, even in an intact container', async () => {
    const path = at('scratched.m4a');
    await makeTone(path, { seconds: 4 });
    const bytes = await readFile(path);
    const [from, to] = [0.5, 0.75].map((part) => Math.floor(part * bytes.length));
    await writeFile(path, bytes.fill(0xff, from, to));
    expect(await verdict(path, 'audio')).toBe('media_corrupt');
  });

  it('gives up, without a verdict, when the deadline passes', async () => {
    const file = at('slow.mp4');
    await makeNumberedVideo(file, { frames: 400, width: 640, height: 480 });
    const attempt = probe(binaries, file, { mediaType: 'video', deadlineMs: 1 });
    await expect(attempt).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'deadline' });
  });

  it('stops at once, without a verdict, when the caller does', async () => {
    const stopped = AbortSignal.abort();
    const attempt = probe(binaries, hostile.canary, {
      mediaType: 'video',
      deadlineMs: DEADLINE_MS,
      signal: stopped,
    });
    await expect(attempt).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'stopped' });
  });
});

describe('damage that does not show in the container', () => {
  /** The verdicts on ten copies of a video, each with forty random bytes in its pictures. */
  async function damaged(name: string, encoder: readonly string[]): Promise<string[]> {
    const path = at(name);
    await ffmpeg([...'-f lavfi -i mandelbrot=s=320x240:r=25 -t 4 -b:v 300k'.split(' '), ...encoder, path]);
    expect(await verdict(path, 'video')).toBe('accepted');
    const good = await readFile(path);
    const next = randomNumbers();
    const verdicts: string[] = [];
    for (let copy = 0; copy < 10; copy += 1) {
      const bytes = Buffer.from(good);
      for (let change = 0; change < 40; change += 1)
        bytes.writeUInt8(next(256), HEADERS_BYTES + next(bytes.length - HEADERS_BYTES));
      await writeFile(path, bytes);
      verdicts.push(await verdict(path, 'video'));
    }
    return verdicts;
  }

  it('is found in every VP9 video', async () => {
    const verdicts = await damaged('scratched-vp9.webm', '-c:v libvpx-vp9 -cpu-used 8 -g 30'.split(' '));
    expect(verdicts.filter((code) => code === 'media_corrupt')).toHaveLength(10);
  });

  it('is found in most VP8 videos, though VP8 has nothing that would tell for certain', async () => {
    const verdicts = await damaged('scratched-vp8.webm', ['-c:v', 'libvpx', '-cpu-used', '8', '-g', '30']);
    expect(verdicts.filter((code) => code === 'media_corrupt').length).toBeGreaterThan(5);
  });
});

describe('mutated media', () => {
  it('never gets more out of the probe than a verdict', async () => {
    const good = await readFile(hostile.canary);
    const verdicts: string[] = [];
    for (let round = 0; round < 24; round += 1) {
      const file = at('mutated.mp4');
      await writeFile(file, mutateBytes(good, round));
      verdicts.push(await verdict(file, 'video'));
    }
    const codes = ['accepted', 'media_unsupported', 'media_corrupt', 'media_too_long', 'media_type_mismatch'];
    expect(verdicts.filter((code) => !codes.includes(code))).toEqual([]);
    expect(new Set(verdicts).size).toBeGreaterThan(1);
  });
});
