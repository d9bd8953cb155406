import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg } from './media-tools';
import { makeNumberedVideo } from './numbered-video';
import { makeTone } from './tone';

/** Files that must be refused, named after what is wrong with them: paths in a new folder. */
export interface HostileMedia {
  readonly folder: string;
  /** A valid video that playlists and concat scripts refer to. Its content must never be output. */
  readonly canary: string;
  readonly hls: string;
  readonly hlsHttp: string;
  readonly ffconcat: string;
  readonly ffconcatHttp: string;
  readonly sdp: string;
  readonly text: string;
  readonly empty: string;
  readonly hugePicture: string;
  readonly manyPictures: string;
  readonly durationLie: string;
  readonly truncatedHead: string;
  readonly truncatedTail: string;
  readonly truncatedWebm: string;
  readonly bitFlips: string;
  readonly tooLong: string;
  readonly tooLongAudio: string;
  readonly noPictures: string;
  readonly coverOnly: string;
  readonly audioOnly: string;
  readonly videoOnly: string;
  readonly oddCodec: string;
}

/** True duration of the file whose header claims a hundred seconds. */
export const DURATION_LIE_SECONDS = 2;
const DURATION_LIE_CLAIM_SECONDS = 100;

const FAST = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const FASTSTART = [...FAST, '-g', '25', '-movflags', '+faststart'];

/** Creates every bad file with ffmpeg or byte by byte. `canaryUrl` is an HTTP URL that must never be requested. */
export async function makeHostileMedia(canaryUrl: string): Promise<HostileMedia> {
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
  const made: HostileMedia = {
    folder,
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
  return made;
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

function beforeBox(file: Buffer, box: string): Buffer {
  return file.subarray(0, file.indexOf(box) - 4);
}
