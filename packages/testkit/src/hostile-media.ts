import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ErrorCode } from '@lipsync/contract';
import { makeProgramTables, withManyStreams, withSampleCount } from './hostile-containers';
import { ffmpeg, makeNumberedVideo, makeTone } from './test-media';

/** Files that must be refused, named after what is wrong with them: paths in a new folder. */
export type HostileMedia = Awaited<ReturnType<typeof makeHostileMedia>>;

/** Each as the media type that it is offered as, with the error code of its refusal. */
export const HOSTILE_MEDIA: readonly (readonly [
  name: Exclude<keyof HostileMedia, 'folder'>,
  mediaType: 'video' | 'audio',
  code: ErrorCode,
])[] = [
  ['hls', 'video', 'media_unsupported'],
  ['hlsHttp', 'video', 'media_unsupported'],
  ['ffconcat', 'video', 'media_unsupported'],
  ['ffconcatHttp', 'video', 'media_unsupported'],
  ['sdp', 'video', 'media_unsupported'],
  ['text', 'video', 'media_unsupported'],
  ['empty', 'video', 'media_corrupt'],
  ['hugePicture', 'video', 'media_unsupported'],
  ['manyPictures', 'video', 'media_unsupported'],
  ['oddCodec', 'video', 'media_unsupported'],
  ['truncatedHead', 'video', 'media_corrupt'],
  ['truncatedTail', 'video', 'media_corrupt'],
  ['truncatedWebm', 'video', 'media_corrupt'],
  ['bitFlips', 'video', 'media_corrupt'],
  ['truncatedAiff', 'audio', 'media_corrupt'],
  ['truncatedWma', 'audio', 'media_corrupt'],
  ['countlessSamples', 'audio', 'media_corrupt'],
  ['manyStreams', 'audio', 'media_unsupported'],
  ['manyPrograms', 'video', 'media_corrupt'],
  ['joinedRecordings', 'video', 'media_unsupported'],
  ['hugeJpegs', 'video', 'media_unsupported'],
  ['hugeJpegsMidway', 'video', 'media_corrupt'],
  ['oddContainer', 'video', 'media_unsupported'],
  ['windowsVideo', 'video', 'media_unsupported'],
  ['noPictures', 'video', 'media_corrupt'],
  ['tooLong', 'video', 'media_too_long'],
  ['tooLongAudio', 'audio', 'media_too_long'],
  ['coverOnly', 'video', 'media_type_mismatch'],
  ['audioOnly', 'video', 'media_type_mismatch'],
  ['videoOnly', 'audio', 'media_type_mismatch'],
  ['text', 'audio', 'media_unsupported'],
  ['hls', 'audio', 'media_unsupported'],
];

/** True duration of the file whose header claims a hundred seconds. */
export const DURATION_LIE_SECONDS = 2;
const DURATION_LIE_CLAIM_SECONDS = 100;

const FAST = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const FASTSTART = [...FAST, '-g', '25', '-movflags', '+faststart'];

/** Creates every bad file with ffmpeg or byte by byte. `canaryUrl` is an HTTP URL that must never be requested. */
export async function makeHostileMedia(canaryUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'hostile-media-'));
  const at = (name: string): string => join(folder, name);
  const good = at('good.mp4');
  const canary = at('canary.mp4');
  await makeNumberedVideo(good, { frames: 100, encoder: FASTSTART });
  await makeNumberedVideo(canary, { frames: 30, encoder: FASTSTART });
  await makeNumberedVideo(at('two-seconds.mp4'), { frames: DURATION_LIE_SECONDS * 25, encoder: FASTSTART });
  await makeNumberedVideo(at('good.webm'), {
    frames: 100,
    encoder: ['-c:v', 'libvpx', '-deadline', 'realtime'],
  });
  const bytes = await readFile(good);
  const webm = await readFile(at('good.webm'));
  const made = {
    folder,
    /** A valid video that playlists and concat scripts refer to. Its content must never be output. */
    canary,
    hls: await write(at('hls.mp4'), playlist(`file://${canary}`)),
    hlsHttp: await write(at('hls-http.mp4'), playlist(canaryUrl)),
    ffconcat: await write(at('ffconcat.mp4'), "ffconcat version 1.0\nfile 'canary.mp4'\n"),
    ffconcatHttp: await write(at('ffconcat-http.mp4'), `ffconcat version 1.0\nfile '${canaryUrl}'\n`),
    sdp: await write(
      at('sdp.mp4'),
      'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n',
    ),
    text: await write(at('text.mp4'), 'This is a letter, not a film.\n'.repeat(200)),
    empty: await write(at('empty.mp4'), ''),
    hugePicture: at('huge-picture.mp4'),
    manyPictures: at('many-pictures.mp4'),
    durationLie: await write(at('duration-lie.mp4'), lieAboutDuration(await readFile(at('two-seconds.mp4')))),
    truncatedHead: await write(at('truncated-head.mp4'), bytes.subarray(0, 600)),
    truncatedTail: await write(at('truncated-tail.mp4'), bytes.subarray(0, Math.floor(bytes.length * 0.6))),
    truncatedWebm: await write(at('truncated.webm'), webm.subarray(0, Math.floor(webm.length * 0.6))),
    bitFlips: await write(at('bit-flips.mp4'), flipBits(bytes)),
    tooLong: at('301-seconds.mp4'),
    tooLongAudio: at('301-seconds.mp3'),
    noPictures: at('no-pictures.mp4'),
    coverOnly: at('cover-only.m4a'),
    audioOnly: at('audio-only.m4a'),
    videoOnly: canary,
    oddCodec: at('odd-codec.mkv'),
    oddContainer: at('odd-container.avi'),
    windowsVideo: at('windows-video.wmv'),
    hugeJpegs: at('huge-jpegs.mov'),
    hugeJpegsMidway: at('huge-jpegs-midway.mov'),
    ...(await makeBroadcastMedia(at)),
  };
  const color = (size: string, rate: number): string[] => ['-f', 'lavfi', '-i', `color=s=${size}:r=${rate}`];
  await ffmpeg([...color('8192x8192', 25), '-frames:v', '3', ...FAST, '-threads', '1', made.hugePicture]);
  await ffmpeg([...color('16x16', 1000), '-frames:v', '20000', ...FAST, made.manyPictures]);
  await ffmpeg([...color('32x32', 5), '-t', '301', ...FAST, made.tooLong]);
  await makeTone(made.tooLongAudio, { seconds: 301, sampleRate: 8000 });
  await makeTone(made.audioOnly, { seconds: 1 });
  // A video track without a single sample: a fragmented header whose fragments were never written.
  await ffmpeg([
    ...[...color('64x64', 25), '-frames:v', '1', ...FAST, '-movflags', '+empty_moov+frag_keyframe'],
    at('fragmented.mp4'),
  ]);
  await write(made.noPictures, beforeBox(await readFile(at('fragmented.mp4')), 'moof'));
  const cover = at('cover.jpg');
  await ffmpeg([...color('64x64', 25), '-frames:v', '1', '-update', '1', cover]);
  await ffmpeg([
    ...['-i', made.audioOnly, '-i', cover, '-map', '0:a', '-map', '1:v', '-c', 'copy'],
    ...['-disposition:v', 'attached_pic', made.coverOnly],
  ]);
  await ffmpeg([...color('64x64', 25), '-frames:v', '10', '-c:v', 'ffv1', made.oddCodec]);
  await ffmpeg([...color('64x64', 25), '-frames:v', '10', '-c:v', 'mpeg4', made.oddContainer]);
  await ffmpeg([...color('64x64', 25), '-frames:v', '10', '-c:v', 'wmv2', made.windowsVideo]);
  await ffmpeg([...color('8192x8192', 25), '-frames:v', '2', '-c:v', 'mjpeg', made.hugeJpegs]);
  await ffmpeg([...color('64x64', 25), '-frames:v', '20', '-c:v', 'mjpeg', '-f', 'mjpeg', at('small.mjpeg')]);
  await ffmpeg(['-i', made.hugeJpegs, '-c', 'copy', '-f', 'mjpeg', at('huge.mjpeg')]);
  const jpegs = await Promise.all(['small.mjpeg', 'huge.mjpeg', 'small.mjpeg'].map((n) => readFile(at(n))));
  await write(at('mixed.mjpeg'), Buffer.concat(jpegs));
  await ffmpeg(['-f', 'mjpeg', '-i', at('mixed.mjpeg'), '-c', 'copy', made.hugeJpegsMidway]);
  return made;
}

/** What is wrong with files of camcorders, broadcasters and Windows. */
async function makeBroadcastMedia(at: (name: string) => string) {
  await makeNumberedVideo(at('good.ts'), { frames: 50, encoder: FAST });
  await makeTone(at('good.wma'), { seconds: 2 });
  await makeTone(at('good.aiff'), { seconds: 2 });
  const [ts, wma, aiff] = await Promise.all(['good.ts', 'good.wma', 'good.aiff'].map((n) => readFile(at(n))));
  if (ts === undefined || wma === undefined || aiff === undefined) throw new Error('not all could be read');
  return {
    truncatedAiff: await write(at('truncated.aiff'), aiff.subarray(0, aiff.length / 2)),
    truncatedWma: await write(at('truncated.wma'), wma.subarray(0, wma.length / 2)),
    countlessSamples: await write(at('countless-samples.aiff'), withSampleCount(aiff, 0xffff_ffff)),
    manyStreams: await write(at('many-streams.wma'), withManyStreams(wma, 3000)),
    manyPrograms: await write(at('many-programs.ts'), makeProgramTables(200, 40)),
    joinedRecordings: await write(at('joined.ts'), Buffer.concat([ts, ts])),
  };
}

async function write(path: string, content: string | Uint8Array): Promise<string> {
  await writeFile(path, content);
  return path;
}

function playlist(target: string): string {
  return `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\n${target}\n#EXT-X-ENDLIST\n`;
}

/** Overwrites the duration (in the header's own time scale) of `mvhd`, version 0. */
function lieAboutDuration(file: Buffer): Buffer {
  const copy = Buffer.from(file);
  const header = copy.indexOf('mvhd');
  const timescale = copy.readUInt32BE(header + 16);
  copy.writeUInt32BE(timescale * DURATION_LIE_CLAIM_SECONDS, header + 20);
  return copy;
}

/** Flips two hundred bits in the picture data, always the same ones. */
function flipBits(file: Buffer): Buffer {
  const copy = Buffer.from(file);
  const from = copy.indexOf('mdat') + 1000;
  for (let flip = 0; flip < 200; flip += 1) {
    const position = from + Math.floor(((copy.length - from) * flip) / 200);
    copy.writeUInt8(copy.readUInt8(position) ^ (1 << (flip % 8)), position);
  }
  return copy;
}

/** A damaged copy: bits flipped, cut off, parts exchanged or blanked; always the same for a seed. */
export function mutateBytes(file: Uint8Array, seed: number): Buffer {
  const copy = Buffer.from(file);
  // A linear congruential generator. Its high bits are used, because the low ones repeat soon.
  let state = (seed * 2_654_435_761 + 12_345) % 2 ** 31;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 2 ** 31) * limit);
  };
  const kind = seed % 4;
  if (kind === 0) return copy.subarray(0, below(copy.length));
  for (let change = 0; change <= below(12); change += 1) {
    const [from, to, length] = [below(copy.length), below(copy.length), 1 + below(64)];
    if (kind === 1) copy.writeUInt8(copy.readUInt8(from) ^ (1 << below(8)), from);
    else if (kind === 2) copy.subarray(from, from + length).fill(below(256));
    else {
      const moved = Buffer.from(copy.subarray(from, from + length));
      copy.copy(copy, from, to, to + moved.length);
      moved.copy(copy, to);
    }
  }
  return copy;
}

function beforeBox(file: Buffer, box: string): Buffer {
  return file.subarray(0, file.indexOf(box) - 4);
}
