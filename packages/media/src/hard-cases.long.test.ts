import { readFile, writeFile } from 'node:fs/promises';
import {
  ffmpeg,
  ffprobe,
  frameNumbers,
  makeClickTrain,
  makeNumberedVideo,
  makeTone,
  sayTurned,
  shownPictures,
  testFolder,
} from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import { probe } from './probe/probe';
import { frameSize } from './probe/stream-info';
import {
  framesOf,
  measureAudio,
  readClock,
  renderTimeline,
  type SyncMode,
  videoOf,
} from './test/media-files';

jest.setTimeout(60_000);

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  await makeClickTrain(at('sound.wav'), { seconds: 2.4, clicks: [1] });
  const source = ['-f', 'lavfi', '-i', 'testsrc2=s=96x64:r=25', '-frames:v', '3'];
  await ffmpeg([...source, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', at('upright.mp4')]);
});

/** The numbers in an output made of this video. */
async function numbersOf(videoPath: string, mode: SyncMode, audioPath = at('sound.wav')): Promise<number[]> {
  const [video, audio] = [await readClock(binaries, videoPath), await measureAudio(binaries, audioPath)];
  await renderTimeline(binaries, { video, audio, outputPath: at('out.mp4') }, mode);
  return frameNumbers(at('out.mp4'), frameSize(video.stream));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
/** 2.4 s forwards and back, over this many frames. */
const bounced = (shown: readonly number[]): number[] =>
  [...shown, ...shown.slice(1, -1).reverse(), ...shown].slice(0, 60);

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0', '-g', '20'];
const VP8 = ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '2M', '-g', '20'];

describe('a video whose pictures change their size midway, as recordings of calls do', () => {
  /** 40 numbered pictures that grow to twice the size after 20 and shrink again after 30. */
  async function makeGrowing(name: string, encoder: readonly string[], turn = 'null'): Promise<string> {
    const extension = name.endsWith('.webm') ? 'webm' : 'h264';
    const part = (i: number): string => at(`part-${i}.${extension}`);
    await makeNumberedVideo(part(0), { frames: 20, filters: turn, encoder });
    const grow = `scale=384:128:flags=neighbor,${turn}`;
    await makeNumberedVideo(part(1), { frames: 10, filters: grow, encoder });
    await makeNumberedVideo(part(2), { frames: 10, filters: turn, encoder });
    if (extension === 'h264') {
      const bytes = await Promise.all([0, 1, 2].map((i) => readFile(part(i))));
      await writeFile(at('parts.h264'), Buffer.concat(bytes));
      await ffmpeg(['-fflags', '+genpts', '-r', '25', '-i', at('parts.h264'), '-c', 'copy', at(name)]);
    } else {
      await writeFile(at('parts.txt'), [0, 1, 2].map((i) => `file part-${i}.webm\n`).join(''));
      await ffmpeg(['-f', 'concat', '-i', at('parts.txt'), '-c', 'copy', at(name)]);
    }
    return at(name);
  }
  const numbers = [...upTo(20), ...upTo(10), ...upTo(10)];

  it.each([
    ['growing.mp4', H264],
    ['growing.mkv', H264],
    ['growing.webm', VP8],
  ])('%s keeps the first size and loses no frame, forwards and backwards', async (name, encoder) => {
    const video = await makeGrowing(name, encoder);
    expect(await numbersOf(video, 'bounce')).toEqual(bounced(numbers));
    const { video: output } = await probe(binaries, at('out.mp4'), {
      mediaType: 'video',
      deadlineMs: 60_000,
    });
    expect(output).toMatchObject({ width: 192, height: 64, frames: 60 });
  });

  it('keeps the first size and loses no frame when it is stored on its side, too', async () => {
    const stored = await makeGrowing('stored.mp4', H264, 'transpose=cclock');
    await sayTurned(stored, at('turned.mp4'), 90);
    expect(await numbersOf(at('turned.mp4'), 'bounce')).toEqual(bounced(numbers));
  });
});

it('a change of pixel format midway loses no frame', async () => {
  await makeNumberedVideo(at('420.h264'), { frames: 20, encoder: H264 });
  await makeNumberedVideo(at('444.h264'), { frames: 20, filters: 'format=yuv444p', encoder: H264 });
  const bytes = await Promise.all(['420.h264', '444.h264'].map((name) => readFile(at(name))));
  await writeFile(at('formats.h264'), Buffer.concat(bytes));
  await ffmpeg(['-fflags', '+genpts', '-r', '25', '-i', at('formats.h264'), '-c', 'copy', at('formats.mkv')]);
  expect(await numbersOf(at('formats.mkv'), 'cut_off')).toEqual([...upTo(20), ...upTo(20)]);
});

it.each([
  ['professional.mov', 'ProRes 4:2:2 10 bit', ['-c:v', 'prores_ks', '-pix_fmt', 'yuv422p10le']],
  [
    'hdr.mp4',
    'HEVC 10 bit',
    ['-c:v', 'libx265', '-pix_fmt', 'yuv420p10le', '-x265-params', 'log-level=none'],
  ],
  [
    'transparent.webm',
    'VP9 with transparency',
    ['-c:v', 'libvpx-vp9', '-pix_fmt', 'yuva420p', '-deadline', 'realtime'],
  ],
])('a video in %s (%s) is read', async (name, _kind, encoder) => {
  await makeNumberedVideo(at(name), { frames: 40, encoder });
  expect(await numbersOf(at(name), 'bounce')).toEqual(bounced(upTo(40)));
});

describe('a container with more in it', () => {
  it('yields its first moving pictures and its first sound, and nothing else goes into the output', async () => {
    await makeNumberedVideo(at('film.mp4'), { frames: 50 });
    await makeTone(at('other.m4a'), { seconds: 2, sampleRate: 22_050 });
    await ffmpeg([...'-f lavfi -i testsrc2=s=320x240 -frames:v 1 -update 1'.split(' '), at('cover.jpg')]);
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=96x96:r=30', '-t', '2', ...H264, at('second.mp4')]);
    await writeFile(at('words.srt'), '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
    const chapters = ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=One\n';
    await writeFile(at('chapters.txt'), chapters);
    const inputs = [
      'cover.jpg',
      'sound.wav',
      'words.srt',
      'film.mp4',
      'other.m4a',
      'second.mp4',
      'chapters.txt',
    ];
    const maps = [1, 2, 0, 3, 4, 5].flatMap((i) => ['-map', String(i)]);
    const codecs = ['-c', 'copy', '-c:s', 'mov_text', '-c:a:0', 'aac', '-timecode', '01:00:00:00'];
    await ffmpeg([
      ...inputs.flatMap((name) => ['-i', at(name)]),
      ...[...maps, ...codecs, '-map_metadata', '6', '-disposition:v:0', 'attached_pic', at('crowded.mp4')],
    ]);
    expect(await numbersOf(at('crowded.mp4'), 'cut_off', at('crowded.mp4'))).toEqual(upTo(50));
    const entries = 'stream=codec_type,sample_rate:chapter=id';
    const streams = await ffprobe([
      '-show_entries',
      entries,
      '-show_chapters',
      '-of',
      'csv=p=0',
      at('out.mp4'),
    ]);
    expect(streams.trim().split('\n')).toEqual(['video', 'audio,48000']);
  });

  it('whose clock begins at an hour is played from its first picture, also backwards', async () => {
    await makeNumberedVideo(at('punctual.mp4'), { frames: 40 });
    await ffmpeg(['-i', at('punctual.mp4'), '-c', 'copy', '-output_ts_offset', '3600', at('hour.mkv')]);
    expect(await numbersOf(at('hour.mkv'), 'bounce')).toEqual(bounced(upTo(40)));
  });

  it('whose pictures pause shows the one before the pause as long as it lasts', async () => {
    await makeNumberedVideo(at('pause.mkv'), { frames: 11, filters: 'setpts=PTS+gte(N\\,10)*50' });
    const shown = [...upTo(9), ...Array.from({ length: 51 }, () => 9), 10];
    expect(await shownPictures(at('pause.mkv'))).toEqual(shown);
    expect(await numbersOf(at('pause.mkv'), 'cut_off')).toEqual(shown);
  });

  it('whose last picture stays for two seconds shows it as long', async () => {
    await makeNumberedVideo(at('plain.mp4'), { frames: 10, encoder: H264 });
    const longer = ['-c', 'copy', '-bsf:v', 'setts=duration=if(eq(N\\,9)\\,2/TB\\,DURATION)'];
    await ffmpeg(['-i', at('plain.mp4'), ...longer, at('last.mp4')]);
    const shown = [...upTo(9), ...Array.from({ length: 50 }, () => 9)];
    expect(await numbersOf(at('last.mp4'), 'cut_off')).toEqual(shown);
  });
});

/** Distance from the name of the box to the matrix in a version 0 track header. */
const MATRIX_OFFSET = 44;
const ONE = 0x10000;

/** Copies the video with another matrix in its track header: a b, c d. */
async function under(matrix: readonly number[]): Promise<string> {
  const [a = 0, b = 0, c = 0, d = 0] = matrix;
  const bytes = await readFile(at('upright.mp4'));
  const matrixAt = bytes.indexOf('tkhd') + MATRIX_OFFSET;
  [a, b, 0, c, d, 0, 0, 0].forEach((value, i) => bytes.writeInt32BE(value * ONE, matrixAt + i * 4));
  const path = at('turned.mp4');
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
  expect((await videoOf(binaries, path)).upright).not.toBeNull();
  const [frame = new Uint8Array()] = await framesOf(binaries, path);
  expect(Buffer.compare(frame, wanted)).toBe(0);
});
