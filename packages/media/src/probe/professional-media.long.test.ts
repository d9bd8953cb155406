import { readFile, writeFile } from 'node:fs/promises';
import { ffmpeg, makeTone, testFolder } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { probeVerdict } from '../test/media-files';
import { probe, type ProbeResult } from './probe';

const DEADLINE_MS = 60_000;
jest.setTimeout(DEADLINE_MS);

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

const probed = (name: string, mediaType: 'video' | 'audio'): Promise<ProbeResult> =>
  probe(binaries, at(name), { mediaType, deadlineMs: DEADLINE_MS });

const words = (text: string): string[] => text.split(' ');
const pictures = (size: string, frames: number): string[] =>
  words(`-f lavfi -i testsrc2=s=${size}:r=25 -frames:v ${frames}`);
/** Half pictures of two moments each, from 50 pictures a second. */
const fields = (size: string, frames: number): string[] =>
  words(
    `-f lavfi -i testsrc2=s=${size}:r=50 -vf tinterlace=interleave_top,fieldorder=tff -frames:v ${frames}`,
  );
const sound = (seconds: number): string[] => words(`-f lavfi -i sine=r=48000:d=${seconds}`);
const H264 = words('-c:v libx264 -preset ultrafast -bf 2 -pix_fmt yuv420p');
const INTERLACED = words('-flags +ilme+ildct');

describe('video of cameras, editors and broadcasters', () => {
  it.each<[string, string, readonly string[], object]>([
    ...(['lb', 'sq', 'hq'] as const).map((profile): [string, string, readonly string[], object] => [
      `DNxHR ${profile.toUpperCase()}`,
      `${profile}.mov`,
      [...pictures('320x192', 10), ...words(`-c:v dnxhd -profile:v dnxhr_${profile} -pix_fmt yuv422p`)],
      { codec: 'dnxhd', depth: 8 },
    ]),
    [
      'DNxHR HQX of 10 bits',
      'hqx.mov',
      [...pictures('320x192', 10), ...words('-c:v dnxhd -profile:v dnxhr_hqx -pix_fmt yuv422p10le')],
      { codec: 'dnxhd', depth: 10 },
    ],
    [
      'DNxHR 444',
      '444.mov',
      [...pictures('320x192', 10), ...words('-c:v dnxhd -profile:v dnxhr_444 -pix_fmt yuv444p10le')],
      { codec: 'dnxhd', depth: 10 },
    ],
    [
      'DNxHD, interlaced',
      'dnxhd.mov',
      [...fields('1920x1080', 3), ...words('-c:v dnxhd -b:v 120M -pix_fmt yuv422p'), ...INTERLACED],
      { codec: 'dnxhd', frames: 3 },
    ],
    [
      'Motion JPEG of a camera, full range',
      'jpeg.mov',
      [...pictures('320x192', 10), ...words('-c:v mjpeg -pix_fmt yuvj422p')],
      { codec: 'mjpeg', pixFmt: 'yuvj422p' },
    ],
    [
      'Motion JPEG in Matroska',
      'jpeg.mkv',
      [...pictures('320x192', 10), ...words('-c:v mjpeg -pix_fmt yuvj420p')],
      { codec: 'mjpeg' },
    ],
    [
      'ProRes with a track of timecode',
      'prores.mov',
      [...pictures('320x192', 10), ...words('-c:v prores_ks -pix_fmt yuv422p10le -timecode 01:00:00:00')],
      { codec: 'prores', timecode: '01:00:00:00' },
    ],
    [
      'MPEG-2 1080i in MPEG-TS',
      'mpeg2.ts',
      [
        ...fields('1920x1080', 10),
        ...words('-c:v mpeg2video -bf 2 -b:v 15M -pix_fmt yuv420p'),
        ...INTERLACED,
      ],
      { codec: 'mpeg2video', scan: 'tff' },
    ],
    ['MPEG-2 in Matroska', 'mpeg2.mkv', [...pictures('320x192', 10), ...words('-c:v mpeg2video')], {}],
    [
      'HEVC in MPEG-TS',
      'hevc.ts',
      [...pictures('320x192', 10), ...words('-c:v libx265 -preset ultrafast -x265-params log-level=none')],
      { codec: 'hevc' },
    ],
    [
      'H.264 of a camcorder: interlaced, in packets of 192 bytes',
      'avchd.mts',
      [
        ...fields('1440x1080', 10),
        ...[...H264, ...INTERLACED, ...words('-x264opts tff=1 -f mpegts -mpegts_m2ts_mode 1')],
      ],
      { codec: 'h264', scan: 'tff', rate: { num: 25, den: 1 } },
    ],
    [
      'MPEG-TS whose times begin just before they wrap',
      'wrap.ts',
      [...pictures('320x192', 10), ...H264, ...words('-output_ts_offset 95442.1')],
      { codec: 'h264', durationSeconds: 0.4 },
    ],
  ])('%s is accepted', async (_, name, args, expected) => {
    await ffmpeg([...args, at(name)]);
    const frames = Number(args[args.indexOf('-frames:v') + 1]);
    const { video } = await probed(name, 'video');
    expect(video).toMatchObject({ frames, ...expected });
    expect(video?.durationSeconds).toBeCloseTo(frames / 25, 2);
  });

  it('is taken from the first program where MPEG-TS has several', async () => {
    const second = words('-f lavfi -i testsrc2=s=64x64:r=25:d=1');
    const programs = words('-map 0 -map 1 -program program_num=1:st=0 -program program_num=2:st=1');
    await ffmpeg([...pictures('320x192', 25), ...H264, at('first.ts')]);
    await ffmpeg(['-i', at('first.ts'), ...second, ...programs, ...H264, at('programs.ts')]);
    expect((await probed('programs.ts', 'video')).video).toMatchObject({ width: 320, frames: 25 });
  });

  it('may begin amid pictures whose reference is missing, and end anywhere', async () => {
    const open = words('-x264opts open-gop=1:keyint=25:min-keyint=25:scenecut=0 -bf 3');
    await ffmpeg([...pictures('320x192', 150), ...H264, ...open, at('whole.ts')]);
    const bytes = await readFile(at('whole.ts'));
    await writeFile(at('part.ts'), bytes.subarray(Math.floor(bytes.length / 5), bytes.length - 1000));
    const { video } = await probed('part.ts', 'video');
    expect(video?.frames).toBeGreaterThan(90);
    // The pictures right after a keyframe, and the last one, may be missing.
    expect(Math.abs((video?.durationSeconds ?? 0) - (video?.frames ?? 0) / 25)).toBeLessThan(0.2);
  });

  it('may last five minutes at 50 pictures a second in MPEG-TS', async () => {
    const plain = words('-f lavfi -i color=s=32x32:r=50 -frames:v 15000');
    await ffmpeg([...plain, ...words('-c:v mpeg2video -g 50'), at('long.ts')]);
    expect((await probed('long.ts', 'video')).video).toMatchObject({ frames: 15_000, durationSeconds: 300 });
  });

  it('may change the size of its pictures midway', async () => {
    await ffmpeg([...pictures('96x64', 10), ...words('-c:v mjpeg -pix_fmt yuvj420p'), at('small.mjpeg')]);
    await ffmpeg([...pictures('192x128', 10), ...words('-c:v mjpeg -pix_fmt yuvj422p'), at('large.mjpeg')]);
    const parts = await Promise.all(['small.mjpeg', 'large.mjpeg'].map((name) => readFile(at(name))));
    await writeFile(at('growing.mjpeg'), Buffer.concat(parts));
    await ffmpeg(['-f', 'mjpeg', '-i', at('growing.mjpeg'), '-c', 'copy', at('growing.mov')]);
    expect((await probed('growing.mov', 'video')).video).toMatchObject({ width: 96, height: 64, frames: 20 });
  });
});

describe('sound of cameras, editors, broadcasters and Windows', () => {
  it.each<[string, string, readonly string[], object]>([
    ['AIFF of 24 bits at 96 kHz', 'a.aiff', ['-ar', '96000', '-c:a', 'pcm_s24be'], { sampleRate: 96_000 }],
    ['AIFC with samples the other way around', 'sowt.aifc', words('-c:a pcm_s16le -f aiff'), {}],
    ['AIFC of floats', 'fl32.aifc', ['-c:a', 'pcm_f32be'], { codec: 'pcm_f32be' }],
    ['AC-3', 'a.ac3', words('-ac 2'), { codec: 'ac3', channels: 2 }],
    ['E-AC-3 5.1', 'a.eac3', words('-ac 6'), { codec: 'eac3', channels: 6 }],
    ['AC-3 in MP4', 'ac3.mp4', words('-c:a ac3'), { codec: 'ac3' }],
    ['E-AC-3 in Matroska', 'eac3.mkv', words('-c:a eac3'), { codec: 'eac3' }],
    ['WMA 2', 'a.wma', words('-c:a wmav2'), { codec: 'wmav2' }],
    ['WMA 1', '1.wma', words('-c:a wmav1'), { codec: 'wmav1' }],
    ['MP2', 'a.mp2', [], { codec: 'mp2' }],
    ['MP2 in MPEG-TS', 'mp2.ts', words('-c:a mp2'), { codec: 'mp2' }],
    ['AC-3 of a camcorder', 'ac3.mts', words('-c:a ac3 -f mpegts -mpegts_m2ts_mode 1'), { codec: 'ac3' }],
    [
      'PCM of a camcorder',
      'pcm.m2ts',
      words('-ac 2 -c:a pcm_bluray -f mpegts -mpegts_m2ts_mode 1'),
      { codec: 'pcm_bluray', channels: 2 },
    ],
    ['AAC as broadcasts pack it', 'latm.ts', words('-c:a aac -mpegts_flags latm'), { codec: 'aac_latm' }],
  ])('%s is accepted', async (_, name, encoder, expected) => {
    await ffmpeg([...sound(1.5), ...encoder, at(name)]);
    const { audio } = await probed(name, 'audio');
    expect(audio).toMatchObject(expected);
    // Packets are longer than what is left for the last.
    expect(Math.abs((audio?.durationSeconds ?? 0) - 1.5)).toBeLessThan(0.07);
  });

  it('may be an AIFF that was written to a pipe, whose header says the most of its length', async () => {
    await makeTone(at('piped.aiff'), { seconds: 1 });
    const bytes = await readFile(at('piped.aiff'));
    bytes.writeUInt32BE(0x3f80_0000, bytes.indexOf('COMM') + 10);
    bytes.writeUInt32BE(0x7f00_0008, bytes.indexOf('SSND') + 4);
    await writeFile(at('piped.aiff'), bytes);
    expect((await probed('piped.aiff', 'audio')).audio?.durationSeconds).toBeCloseTo(1, 3);
  });

  it('may be a WMA that was written to a pipe, whose header says nothing of its length', async () => {
    await makeTone(at('file.wma'), { seconds: 1 });
    const piped = await ffmpeg(['-i', at('file.wma'), ...words('-c copy -f asf pipe:1')]);
    await writeFile(at('piped.wma'), piped);
    expect(await probeVerdict(binaries, at('piped.wma'), 'audio')).toBe('accepted');
  });

  it('is taken for damaged where a quarter of its checksums are wrong, which its decoder would hide', async () => {
    await makeTone(at('good.ac3'), { seconds: 4, sampleRate: 48_000 });
    const bytes = await readFile(at('good.ac3'));
    for (let byte = 100; byte < bytes.length; byte += 1500)
      bytes.writeUInt8(bytes.readUInt8(byte) ^ 0x55, byte);
    await writeFile(at('scratched.ac3'), bytes);
    expect(await probeVerdict(binaries, at('scratched.ac3'), 'audio')).toBe('media_corrupt');
  });
});
