import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg } from '@lipsync/testkit';
import { type Binaries } from '../ffmpeg/binaries';
import { framesOf, passThrough, videoOf } from './media-files';

/**
 * Expects that pictures with these tags are read as they are stored, and written with the same tags and hardly a change.
 * `folder` has the sound, tone.m4a.
 */
export async function expectColorKept(
  binaries: Binaries,
  folder: string,
  tags: readonly string[],
): Promise<void> {
  const [source, output, raw] = [
    join(folder, 'tagged.mp4'),
    join(folder, 'out.mp4'),
    join(folder, 'raw.yuv'),
  ];
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=128x96:r=25', '-frames:v', '5'];
  const lossless = ['-c:v', 'libx264', '-qp', '0', '-preset', 'ultrafast', ...tags];
  const pixFmt = tags.includes('yuvj420p') ? [] : ['-pix_fmt', 'yuv420p'];
  await ffmpeg([...picture, ...lossless, ...pixFmt, source]);
  await ffmpeg(['-i', source, '-f', 'rawvideo', raw]);
  const read = Buffer.concat(await framesOf(binaries, source));
  expect(read.equals(await readFile(raw))).toBe(true);

  await passThrough(binaries, source, output, join(folder, 'tone.m4a'));
  expect((await videoOf(binaries, output)).color).toEqual((await videoOf(binaries, source)).color);
  const written = Buffer.concat(await framesOf(binaries, output));
  let difference = 0;
  for (const [i, sample] of read.entries()) difference += Math.abs(sample - (written[i] ?? 0));
  expect(difference / read.length).toBeLessThan(2);
}
