import { readdirSync, statSync } from 'node:fs';
import { readFile, rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { childrenOf, waitUntil } from '@lipsync/local-stack';
import {
  eventually,
  HOSTILE_MEDIA,
  makeHostileMedia,
  makeNumberedVideo,
  makeTone,
  mutateBytes,
} from '@lipsync/testkit';
import { MEDIA_HOST, type Origins } from './origins';
import { type CorpusResult, createTally, endOf, type TestBed } from './test-bed';

/** Mutants that became ready and are analyzed as well; each takes an inference process a few seconds. */
const ANALYZED = 4;
const DAY_MS = 86_400_000;
/** The codes of a file that is not taken, none of which blames the service. */
const REFUSALS = ['media_corrupt', 'media_unsupported', 'media_type_mismatch', 'media_too_long'];
const ANALYSES = ['completed', 'no_face_detected', 'media_corrupt', 'media_unsupported'];

type MediaType = 'video' | 'audio';

/**
 * Offers files that must be refused, and damaged copies of good ones, to the real decoders. Each must end as ready or
 * with a clean error, without anything being opened that a file names, and nothing may be left behind.
 */
export async function tryMedia(
  bed: TestBed,
  { replies }: Origins,
  seed: number,
  count: number,
): Promise<CorpusResult> {
  const { result, expectOutcome } = createTally();
  const { api } = bed.attacker;
  const offered: (readonly [name: string, MediaType, content: Buffer, expected: readonly string[]])[] = [];
  // Some playlists name the canary.
  const hostile = await makeHostileMedia(`http://127.0.0.1:${bed.canaryPort}/canary.mp4`);
  for (const [name, mediaType, code] of HOSTILE_MEDIA)
    offered.push([`${name} as ${mediaType}`, mediaType, await readFile(hostile[name]), [code]]);
  const good = await makeGoodFiles(hostile.folder);
  for (let i = 0; i < count; i += 1) {
    const [name, mediaType, content] = good[i % good.length] ?? ['', 'video', Buffer.of()];
    // Every file gets all kinds of damage in turn, however many files there are.
    const mutant = mutateBytes(content, seed + Math.floor(i / good.length) + 4 * i);
    offered.push([`mutant ${i} of ${name}`, mediaType, mutant, ['ready', ...REFUSALS]]);
  }
  const wasOpened = await watchReads(hostile.canary);
  const survivors: string[] = [];
  await Promise.all(
    offered.map(async ([name, mediaType, body, expected], i) => {
      replies[`/offered/${i}`] = { status: 200, body };
      const url = `https://${MEDIA_HOST}/offered/${i}`;
      const { id } = await eventually(() => api.assets.create({ url, media_type: mediaType }));
      const outcome = await endOf(() => api.assets.get(id));
      expectOutcome(name, outcome, expected);
      if (outcome === 'ready' && mediaType === 'video') survivors.push(id);
    }),
  );
  for (const id of survivors.slice(0, ANALYZED)) {
    const preparation = await eventually(() => api.preparations.create({ video: { asset_id: id } }));
    expectOutcome(`the analysis of ${id}`, await endOf(() => api.preparations.get(preparation.id)), ANALYSES);
  }
  if (wasOpened?.() === true) result.violations.push('a file was opened that another one names');
  // The last jobs end a moment before their folders are gone.
  await waitUntil(() => leftovers(bed).length === 0, 30_000);
  result.violations.push(...leftovers(bed));
  await rm(hostile.folder, { recursive: true, force: true });
  const facts = {
    reads_of_files_watched: wasOpened === null ? 'no: this file system does not record them' : 'yes',
  };
  return { ...result, facts };
}

/** Short files of the containers and codecs that decoders differ in. */
async function makeGoodFiles(folder: string): Promise<[name: string, MediaType, content: Buffer][]> {
  const videos: [name: string, encoder: string[]][] = [
    [
      'good.mp4',
      ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-movflags', '+faststart'],
    ],
    ['good.webm', ['-c:v', 'libvpx', '-deadline', 'realtime']],
    ['good.mov', ['-c:v', 'mpeg4']],
    ['good.ts', ['-c:v', 'mpeg2video', '-bf', '2']],
    ['good-jpegs.mov', ['-c:v', 'mjpeg']],
    ['good-dnxhr.mov', ['-c:v', 'dnxhd', '-profile:v', 'dnxhr_sq', '-s', '256x128', '-pix_fmt', 'yuv422p']],
  ];
  const sounds = ['wav', 'aiff', 'mp3', 'flac', 'm4a', 'ac3', 'wma'].map((extension) => `good.${extension}`);
  const at = (name: string): string => path.join(folder, name);
  for (const [name, encoder] of videos) await makeNumberedVideo(at(name), { frames: 25, encoder });
  for (const name of sounds) await makeTone(at(name), { seconds: 1 });
  return Promise.all([
    ...videos.map(async ([name]) => [name, 'video', await readFile(at(name))] as [string, MediaType, Buffer]),
    ...sounds.map(async (name) => [name, 'audio', await readFile(at(name))] as [string, MediaType, Buffer]),
  ]);
}

/** Says later whether anything has read the file; null where the file system does not record that. */
async function watchReads(file: string): Promise<(() => boolean) | null> {
  // Where times of access are kept at all, the first read after a change is always recorded.
  const reset = () => utimes(file, new Date(Date.now() - 2 * DAY_MS), new Date());
  await reset();
  const before = statSync(file).atimeMs;
  await readFile(file);
  if (statSync(file).atimeMs === before) return null;
  await reset();
  const unread = statSync(file).atimeMs;
  return () => statSync(file).atimeMs !== unread;
}

/** Decoders and files of jobs that have ended. */
function leftovers({ stack }: TestBed): string[] {
  const worker = stack.findPid('media-worker');
  const decoders = worker === null ? [] : childrenOf(worker);
  const folder = path.join(stack.layout.workDir, 'media-worker');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return [
    ...decoders.map((pid) => `the media-worker's process ${pid} is left over`),
    ...files.map(({ name }) => `the file ${name} is left over`),
  ];
}
