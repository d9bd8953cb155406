import { readFile, writeFile } from 'node:fs/promises';
import { makeNumberedVideo, type NumberedVideoOptions, readFrameNumber, testFolder } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import {
  expectExactBackwards,
  expectExactSingles,
  expectExactTimelines,
  makeFrameSamples,
} from '../test/frame-samples';
import { decodeAll, type DecodedVideo } from '../test/media-files';

const X264 = ['-c:v', 'libx264', '-preset', 'veryfast'];
const INTERLACED = [...X264, '-g', '24', '-bf', '2', '-flags', '+ildct+ilme'];

/** frame-source.integration has a constant and a variable rate. */
const SOURCES: Record<string, NumberedVideoOptions & { container: string }> = {
  '25 fps with B-frames': { container: 'mp4', frames: 170 },
  '29.97 fps': { container: 'mp4', frames: 200, rate: '30000/1001' },
  '60 fps': { container: 'mp4', frames: 720, rate: '60' },
  '15 fps in Matroska': { container: 'mkv', frames: 100, rate: '15' },
  'a picture per second': { container: 'mp4', frames: 8, rate: '1', encoder: [...X264, '-g', '3'] },
  'a telephone, in Matroska': { container: 'mkv', frames: 160, variableRate: true },
  '120 fps': { container: 'mp4', frames: 480, rate: '120', encoder: [...X264, '-g', '100', '-bf', '2'] },
  '240 fps in Matroska': { container: 'mkv', frames: 480, rate: '240', encoder: [...X264, '-g', '110'] },
  'fields, the top one first': {
    container: 'mp4',
    frames: 200,
    rate: '50',
    filters: 'tinterlace=interleave_top,setfield=tff',
    encoder: [...INTERLACED, '-x264opts', 'tff=1'],
  },
  'fields, the bottom one first': {
    container: 'mov',
    frames: 200,
    rate: '60000/1001',
    filters: 'tinterlace=interleave_bottom,setfield=bff',
    encoder: [...INTERLACED, '-x264opts', 'bff=1'],
  },
  'MPEG-TS': { container: 'ts', frames: 200, rate: '30000/1001', encoder: [...X264, '-g', '40', '-bf', '2'] },
  'fields of MPEG-2 in MPEG-TS': {
    container: 'ts',
    frames: 200,
    rate: '50',
    filters: 'tinterlace=interleave_top,setfield=tff',
    encoder: '-c:v mpeg2video -q:v 3 -g 15 -bf 2 -flags +ildct+ilme -top 1'.split(' '),
  },
  'MPEG-TS whose times wrap': {
    container: 'ts',
    frames: 200,
    encoder: [...X264, '-g', '40', '-output_ts_offset', '95440'],
  },
  DNxHR: {
    container: 'mov',
    frames: 60,
    width: 256,
    height: 128,
    encoder: '-c:v dnxhd -profile:v dnxhr_hqx -pix_fmt yuv422p10le'.split(' '),
  },
  'Motion JPEG': { container: 'mov', frames: 100, encoder: '-c:v mjpeg -q:v 3 -pix_fmt yuvj422p'.split(' ') },
  'ten bits': { container: 'mp4', frames: 120, encoder: [...X264, '-g', '40', '-pix_fmt', 'yuv420p10le'] },
  'transparent parts': {
    container: 'webm',
    frames: 100,
    encoder: '-c:v libvpx-vp9 -pix_fmt yuva420p -g 30 -deadline realtime -cpu-used 8 -b:v 1M'.split(' '),
  },
  'VP8 in WebM': {
    container: 'webm',
    frames: 130,
    rate: '24',
    encoder: ['-c:v', 'libvpx', '-g', '50', '-deadline', 'realtime', '-b:v', '1M'],
  },
  'HEVC with open groups': {
    container: 'mp4',
    frames: 140,
    width: 192,
    height: 96,
    encoder:
      '-c:v libx265 -preset ultrafast -x265-params keyint=40:open-gop=1:bframes=4:log-level=none'.split(' '),
  },
};

const at = testFolder();

describe.each(Object.entries(SOURCES))('frames of %s', (name, options) => {
  let binaries: Binaries;
  let sample: DecodedVideo;

  beforeAll(async () => {
    binaries = await resolveBinaries(process.env);
    sample = (await makeFrameSamples(binaries, at(), { [name]: options }))(name);
  });

  it('are those of the plain decode on every timeline', () => expectExactTimelines(binaries, sample));

  it('are those of the plain decode when only a few are asked for', () =>
    expectExactSingles(binaries, sample));

  it('are those of the plain decode backwards from many keyframes', () =>
    expectExactBackwards(binaries, sample));
});

it('frames of a recording begin with its first keyframe, however late, and are those of the plain decode', async () => {
  const binaries = await resolveBinaries(process.env);
  const file = at('late.ts');
  await makeNumberedVideo(file, { frames: 300, encoder: [...X264, '-g', '100', '-keyint_min', '100'] });
  const bytes = await readFile(file);
  await writeFile(file, bytes.subarray(bytes.length / 10));
  const sample = await decodeAll(binaries, file);
  const numbers = sample.frames.map((frame) => readFrameNumber(frame, sample.stream.width));
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, i) => 100 + i));
  await expectExactBackwards(binaries, sample);
});
