import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { inspect } from '../probe/inspect';
import { openFrameReader } from './frame-reader';

/** Distance from the name of the box to the matrix in a version 0 track header. */
const MATRIX_OFFSET = 44;
const ONE = 0x10000;

let binaries: Binaries;
let folder: string;

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  folder = await mkdtemp(join(tmpdir(), 'upright-'));
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=25', '-frames:v', '3'];
  await ffmpeg([...source, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', join(folder, 'plain.mp4')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Copies the video with another matrix in its track header: a b, c d. */
async function under(matrix: readonly number[]): Promise<string> {
  const [a = 0, b = 0, c = 0, d = 0] = matrix;
  const bytes = await readFile(join(folder, 'plain.mp4'));
  const at = bytes.indexOf('tkhd') + MATRIX_OFFSET;
  [a, b, 0, c, d, 0, 0, 0].forEach((value, i) => bytes.writeInt32BE(value * ONE, at + i * 4));
  const path = join(folder, 'turned.mp4');
  await writeFile(path, bytes);
  return path;
}

it.each([
  [1, 0, 0, 1],
  [-1, 0, 0, 1],
  [1, 0, 0, -1],
  [-1, 0, 0, -1],
  [0, 1, 1, 0],
  [0, 1, -1, 0],
  [0, -1, 1, 0],
  [0, -1, -1, 0],
])('a picture stored under the matrix %i %i, %i %i is shown as ffmpeg shows it', async (...matrix) => {
  const path = await under(matrix);
  const wanted = await ffmpeg(['-i', path, '-frames:v', '1', '-f', 'rawvideo', 'pipe:1']);
  const { video } = await inspect(binaries, path);
  if (video === undefined) throw new Error('no video');
  expect(video.upright).not.toBeNull();
  const reader = openFrameReader(binaries, path, video, {
    layout: { format: 'yuv420p' },
    deadlineMs: 30_000,
  });
  const frame = new Uint8Array(reader.frameBytes);
  expect(await reader.readInto(frame)).toBe(true);
  await reader.close();
  expect(Buffer.compare(frame, wanted)).toBe(0);
});
