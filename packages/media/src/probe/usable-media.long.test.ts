import { readFile, writeFile } from 'node:fs/promises';
import { ffmpeg, makeNumberedVideo, makeTone, testFolder } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { probeVerdict } from '../test/media-files';
import { probe } from './probe';

const DEADLINE_MS = 60_000;
jest.setTimeout(DEADLINE_MS);

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

const verdict = (file: string, mediaType: 'video' | 'audio'): Promise<string> =>
  probeVerdict(binaries, file, mediaType);

describe('usable media', () => {
  it('accepts 300 s of video and of audio, the longest there may be', async () => {
    const video = at('300.mp4');
    const encoder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
    await ffmpeg(['-f', 'lavfi', '-i', 'color=s=32x32:r=5', '-t', '300', ...encoder, video]);
    const audio = at('300.mp3');
    await makeTone(audio, { seconds: 300, sampleRate: 8000 });
    const deadlineMs = DEADLINE_MS;
    const { video: probed } = await probe(binaries, video, { mediaType: 'video', deadlineMs });
    expect(probed).toMatchObject({ codec: 'h264', width: 32, height: 32, frames: 1500 });
    expect(probed?.durationSeconds).toBeCloseTo(300, 3);
    expect((await probe(binaries, audio, { mediaType: 'audio', deadlineMs })).audio?.codec).toBe('mp3');
    // Somebody who reads that 300 s are allowed cuts like this: without re-encoding, so a few pictures more remain.
    const [recording, cut] = [at('310.mp4'), at('300-and-some.mp4')];
    const reordered = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-pix_fmt', 'yuv420p'];
    await ffmpeg(['-f', 'lavfi', '-i', 'color=s=32x32:r=25', '-t', '310', ...reordered, recording]);
    await ffmpeg(['-i', recording, '-t', '300', '-c', 'copy', cut]);
    expect((await probe(binaries, cut, { mediaType: 'video', deadlineMs })).video?.frames).toBeGreaterThan(
      7_500,
    );
  });

  it('reports the stored size where only a tag says that a video is turned, because no decoder heeds it', async () => {
    const [stored, tagged] = [at('stored.mkv'), at('tagged.mkv')];
    await makeNumberedVideo(stored, { frames: 30, width: 192, height: 64 });
    // ffmpeg no longer writes such a tag.
    await ffmpeg(['-i', stored, '-c', 'copy', '-metadata:s:v:0', 'xotate=90', tagged]);
    const bytes = (await readFile(tagged)).toString('latin1').replace(/xotate/i, 'rotate');
    await writeFile(tagged, bytes, 'latin1');
    const { video } = await probe(binaries, tagged, { mediaType: 'video', deadlineMs: DEADLINE_MS });
    expect(video).toMatchObject({ width: 192, height: 64, upright: [] });
  });

  it('accepts media with megabytes of lyrics, which it does not read', async () => {
    const [plain, full] = [at('plain.mka'), at('lyrics.mka')];
    await makeTone(plain, { seconds: 1 });
    const verses = Array.from({ length: 12 }, (_, i) => ['-metadata', `verse${i}=${'la'.repeat(50_000)}`]);
    await ffmpeg(['-i', plain, '-c', 'copy', ...verses.flat(), full]);
    expect(await verdict(full, 'audio')).toBe('accepted');
  });

  it('reports the average rate of a variable-rate video', async () => {
    const file = at('vfr.mp4');
    await makeNumberedVideo(file, { frames: 61, rate: '30', filters: 'setpts=(N+gt(N\\,30)*30)/30/TB' });
    const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS });
    // How long the last picture lasts is the muxer's guess.
    expect(Math.abs((video?.fps ?? 0) - 61 / (91 / 30))).toBeLessThan(0.3);
  });

  it.each(['wav', 'mp3', 'm4a', 'aac', 'flac', 'ogg', 'webm'])(
    'accepts %s audio and measures its decoded length',
    async (extension) => {
      const file = at(`tone.${extension}`);
      await makeTone(file, { seconds: 1.5, sampleRate: 48_000 });
      const { audio } = await probe(binaries, file, { mediaType: 'audio', deadlineMs: DEADLINE_MS });
      // Raw ADTS has no way to say that its first packets are padding.
      expect(Math.abs((audio?.durationSeconds ?? 0) - 1.5)).toBeLessThan(extension === 'aac' ? 0.09 : 0.04);
    },
  );

  it.each([
    ['nothing', 0],
    ['as much as 31 bits can say', 0x7fff_ffff],
    ['as much as 32 bits can say', 0xffff_ffff],
  ])('accepts a WAV that was written to a pipe, whose header says %s of its length', async (_, length) => {
    const file = at('piped.wav');
    await makeTone(file, { seconds: 1.5, sampleRate: 24_000 });
    const bytes = await readFile(file);
    bytes.writeUInt32LE(length, bytes.indexOf('data') + 4);
    await writeFile(file, bytes);
    const { audio } = await probe(binaries, file, { mediaType: 'audio', deadlineMs: DEADLINE_MS });
    expect(audio?.durationSeconds).toBeCloseTo(1.5, 3);
  });

  it('refuses a WAV that was cut short, and no other whose header is a little off', async () => {
    const file = at('short.wav');
    await makeTone(file, { seconds: 1.5, sampleRate: 24_000 });
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 100));
    expect(await verdict(file, 'audio')).toBe('accepted');
    await writeFile(file, bytes.subarray(0, bytes.length / 2));
    expect(await verdict(file, 'audio')).toBe('media_corrupt');
  });

  it('accepts sound and video whose cover is larger than any video may be', async () => {
    const tone = at('plain.m4a');
    const cover = at('cover.png');
    const picture = at('plain.mp4');
    await makeTone(tone, { seconds: 1 });
    await ffmpeg(['-f', 'lavfi', '-i', 'color=s=3000x3000', '-frames:v', '1', cover]);
    await makeNumberedVideo(picture, { frames: 10 });
    const attached = ['-c', 'copy', '-disposition:v:0', 'attached_pic'];
    const song = at('song.m4a');
    await ffmpeg(['-i', tone, '-i', cover, '-map', '0', '-map', '1', ...attached, song]);
    expect(await verdict(song, 'audio')).toBe('accepted');
    expect(await verdict(song, 'video')).toBe('media_type_mismatch');
    const film = at('film.mp4');
    await ffmpeg(['-i', cover, '-i', picture, '-map', '0', '-map', '1', ...attached, film]);
    expect(await verdict(film, 'video')).toBe('accepted');
  });

  it.each([
    [17, 'accepted'],
    [40, 'media_unsupported'],
  ])('calls a video with %d channels of sound, each a stream of its own, %s', async (channels, expected) => {
    const [picture, tone] = [at('one.mp4'), at('one.wav')];
    await makeNumberedVideo(picture, { frames: 10 });
    await makeTone(tone, { seconds: 0.4 });
    const file = at('broadcast.mov');
    const sounds = Array.from({ length: channels }, () => ['-map', '1:a']).flat();
    await ffmpeg(['-i', picture, '-i', tone, '-map', '0:v', ...sounds, '-c', 'copy', file]);
    expect(await verdict(file, 'video')).toBe(expected);
  });

  it.each([
    ['a VP8 call, resilient to losses', 'webm', ['libvpx', '-error-resilient', '1', '-deadline', 'realtime']],
    ['VP8 in many partitions', 'webm', ['libvpx', '-slices', '8', '-error-resilient', 'partitions']],
    ['VP8 of the simplest profile', 'mkv', ['libvpx', '-profile:v', '3']],
    ['VP8 with dropped pictures', 'webm', ['libvpx', '-b:v', '50k', '-drop-threshold', '60']],
    ['VP9 with hidden pictures', 'webm', ['libvpx-vp9', '-auto-alt-ref', '1', '-lag-in-frames', '25']],
    ['VP9 in MP4', 'mp4', ['libvpx-vp9', '-tile-columns', '2', '-row-mt', '1']],
    ['VP9 without loss', 'webm', ['libvpx-vp9', '-lossless', '1']],
    ['VP9 of 10 bits', 'webm', ['libvpx-vp9', '-pix_fmt', 'yuv420p10le']],
    ['VP9 of full color', 'webm', ['libvpx-vp9', '-pix_fmt', 'yuv444p']],
  ])('accepts %s, also cut between its key frames', async (name, extension, encoder) => {
    const [whole, cut] = [`${name}.${extension}`, `${name}, cut.${extension}`].map((file) => at(file));
    if (whole === undefined || cut === undefined) throw new Error('two files');
    const moving = ['-f', 'lavfi', '-i', 'testsrc2=s=161x121:r=25', '-t', '2', '-g', '30', '-cpu-used', '8'];
    await ffmpeg([...moving, '-c:v', ...encoder, whole]);
    expect(await verdict(whole, 'video')).toBe('accepted');
    await ffmpeg(['-ss', '0.5', '-i', whole, '-c', 'copy', cut]);
    expect(await verdict(cut, 'video')).toBe('accepted');
  });

  it('accepts VP8 with hidden reference pictures, which are packets that show nothing', async () => {
    const file = at('hidden.webm');
    const picture = ['-f', 'lavfi', '-i', 'mandelbrot=s=160x120:r=25', '-t', '4'];
    const encoder = '-c:v libvpx -b:v 300k -cpu-used 4 -auto-alt-ref 1 -lag-in-frames 25'.split(' ');
    for (const pass of ['1', '2']) {
      const log = [
        ...'-arnr-maxframes 7 -arnr-strength 3 -passlogfile'.split(' '),
        at('hidden'),
        '-pass',
        pass,
      ];
      await ffmpeg([...picture, ...encoder, ...log, file]);
    }
    const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS });
    expect(video).toMatchObject({ codec: 'vp8', frames: 100 });
  });

  it('accepts H.264 that the decoder complains about but every player shows', async () => {
    const encoder = ['-c:v', 'libx264', '-bf', '3', '-pix_fmt', 'yuv420p'];
    const open = ['-x264opts', 'open-gop=1:keyint=25:min-keyint=25:scenecut=0'];
    const moving = ['-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=25', '-t', '8'];
    const [whole, cut, lossy] = [at('whole.mp4'), at('cut.mp4'), at('lossy.mp4')];
    await ffmpeg([...moving, ...encoder, ...open, whole]);
    // The pictures after the cut refer to pictures before it; and a packet was lost on the way.
    await ffmpeg(['-ss', '1.1', '-i', whole, '-t', '6', '-c', 'copy', cut]);
    expect(await verdict(cut, 'video')).toBe('accepted');
    await ffmpeg(['-i', whole, '-c', 'copy', '-bsf:v', "noise=drop='eq(n,31)'", lossy]);
    expect(await verdict(lossy, 'video')).toBe('accepted');
  });

  it('refuses H.264 if a tenth of it is patched', async () => {
    const good = at('good.mp4');
    await ffmpeg([
      ...['-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=25', '-t', '8'],
      ...['-c:v', 'libx264', '-g', '10', '-pix_fmt', 'yuv420p', good],
    ]);
    const broken = at('patched.mp4');
    await ffmpeg(['-i', good, '-c', 'copy', '-bsf:v', "noise=amount='if(eq(mod(n,10),3),10,0)'", broken]);
    expect(await verdict(broken, 'video')).toBe('media_corrupt');
  });

  it.each(['pcm_mulaw', 'pcm_alaw'])('accepts a telephone call, a WAV of %s', async (codec) => {
    const file = at('call.wav');
    await makeTone(file, { seconds: 1, sampleRate: 8_000 });
    const call = at(`${codec}.wav`);
    await ffmpeg(['-i', file, '-c:a', codec, call]);
    expect(await verdict(call, 'audio')).toBe('accepted');
  });

  it('tolerates a scratch: a few damaged pictures in a long video', async () => {
    const good = at('long.mp4');
    await makeNumberedVideo(good, {
      frames: 1000,
      encoder: ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '1', '-pix_fmt', 'yuv420p'],
    });
    const bytes = await readFile(good);
    const middle = bytes.indexOf('mdat') + Math.floor((bytes.length - bytes.indexOf('mdat')) / 2);
    bytes.fill(0xa5, middle, middle + 12);
    const scratched = at('scratched.mp4');
    await writeFile(scratched, bytes);
    expect(await verdict(scratched, 'video')).toBe('accepted');
  });
});
