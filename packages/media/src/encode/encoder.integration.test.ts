import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg, makeNumberedVideo, makeTone, readFrameNumber } from '@lipsync/testkit';
import { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from '../audio-reader';
import { openFrameReader } from '../decode/frame-reader';
import { type Binaries, machineShare, resolveBinaries } from '../ffmpeg/binaries';
import { inspect } from '../probe/inspect';
import { probe } from '../probe/probe';
import { frameColor, frameSize } from '../probe/stream-info';
import { framesOf, soundOf, videoOf } from '../test/media-files';
import { openEncoder } from './encoder';
import { type EncoderSettings } from './encoder-arguments';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const DEADLINE_MS = 60_000;

let binaries: Binaries;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  folder = await mkdtemp(join(tmpdir(), 'encoder-'));
  await makeTone(at('tone.m4a'), { seconds: 2 });
  await makeTone(at('tone.wav'), { seconds: 2, sampleRate: 96_000 });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Copies every working frame of a video into a new output. */
async function passThrough(source: string, output: string, sound: string): Promise<void> {
  const video = await videoOf(binaries, source);
  const stream = await soundOf(binaries, sound);
  const frames = await framesOf(binaries, source);
  const encoder = openEncoder(
    binaries,
    {
      outputPath: output,
      ...frameSize(video),
      frames: frames.length,
      color: frameColor(video),
      pixelAspect: video.pixelAspect,
      audio: { path: sound, stream },
    },
    { deadlineMs: DEADLINE_MS },
  );
  await Promise.all(frames.map((frame) => encoder.write(frame)));
  await encoder.finish();
}

it('writes exactly the frames it was given, in order, with the sound beside them', async () => {
  await makeNumberedVideo(at('plain.mp4'), { frames: 50 });
  await passThrough(at('plain.mp4'), at('plain-out.mp4'), at('tone.wav'));
  const numbers = (await framesOf(binaries, at('plain-out.mp4'))).map((frame) => readFrameNumber(frame, 192));
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, i) => i));
  const options = { deadlineMs: DEADLINE_MS };
  const { video } = await probe(binaries, at('plain-out.mp4'), { mediaType: 'video', ...options });
  expect(video).toMatchObject({ codec: 'h264', frames: 50, fps: 25, durationSeconds: 2 });
  const { audio } = await probe(binaries, at('plain-out.mp4'), { mediaType: 'audio', ...options });
  expect(audio).toMatchObject({ codec: 'aac', sampleRate: 48_000 });
});

it('tells the viewers of an output nothing that its sound file says about its maker', async () => {
  await makeNumberedVideo(at('told.mp4'), { frames: 50 });
  const chapter = ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=Alice\n';
  await writeFile(at('chapters.txt'), chapter);
  const tags = ['-metadata', 'artist=Alice', '-metadata:s:a:0', 'handler_name=Alice', '-map_chapters', '1'];
  await ffmpeg(['-i', at('tone.m4a'), '-i', at('chapters.txt'), '-c', 'copy', ...tags, at('alice.m4a')]);
  expect((await readFile(at('alice.m4a'))).includes('Alice')).toBe(true);
  await passThrough(at('told.mp4'), at('told-out.mp4'), at('alice.m4a'));
  expect((await readFile(at('told-out.mp4'))).includes('Alice')).toBe(false);
});

it('puts the index before the media, so that a download can be played while it runs', async () => {
  await makeNumberedVideo(at('fast.mp4'), { frames: 10 });
  await passThrough(at('fast.mp4'), at('fast-out.mp4'), at('tone.m4a'));
  const bytes = await readFile(at('fast-out.mp4'));
  expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
});

it.each([
  [
    'limited BT.709',
    ['-color_range', 'tv', '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ],
  ['limited BT.601', ['-color_range', 'tv', '-colorspace', 'smpte170m']],
  ['full-range', ['-color_range', 'pc', '-colorspace', 'bt470bg', '-pix_fmt', 'yuvj420p']],
  ['unspecified', []],
])('carries %s color over without touching a sample', async (_name, tags) => {
  const lossless = ['-c:v', 'libx264', '-qp', '0', '-preset', 'ultrafast', ...tags];
  const pixFmt = tags.includes('yuvj420p') ? [] : ['-pix_fmt', 'yuv420p'];
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=128x96:r=25', '-frames:v', '5'];
  await ffmpeg([...picture, ...lossless, ...pixFmt, at('tagged.mp4')]);
  const raw = ['-i', at('tagged.mp4'), '-f', 'rawvideo', at('tagged.yuv')];
  await ffmpeg(raw);
  const read = Buffer.concat(await framesOf(binaries, at('tagged.mp4')));
  expect(read.equals(await readFile(at('tagged.yuv')))).toBe(true);
  await passThrough(at('tagged.mp4'), at('tagged-out.mp4'), at('tone.m4a'));
  const [source, output] = [
    await videoOf(binaries, at('tagged.mp4')),
    await videoOf(binaries, at('tagged-out.mp4')),
  ];
  expect(output.color).toEqual(source.color);
  const written = Buffer.concat(await framesOf(binaries, at('tagged-out.mp4')));
  let difference = 0;
  for (const [i, sample] of read.entries()) difference += Math.abs(sample - (written[i] ?? 0));
  expect(difference / read.length).toBeLessThan(2);
});

it.each([
  ['HDR10', 'smpte2084'],
  ['HLG', 'arib-std-b67'],
])(
  'keeps a 10-bit %s picture in its own colors: 8 bits of it, and the tags that say what they mean',
  async (_name, transfer) => {
    const tags = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc:range=limited`;
    const ten = [
      ...'-c:v libx265 -pix_fmt yuv420p10le -x265-params'.split(' '),
      `lossless=1:log-level=none:${tags}`,
    ];
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=128x96:r=25', '-frames:v', '5', ...ten, at('hdr.mp4')]);
    await passThrough(at('hdr.mp4'), at('hdr-out.mp4'), at('tone.m4a'));
    const bt2020 = { matrix: 'bt2020nc', primaries: 'bt2020', transfer, range: 'tv' };
    expect(await videoOf(binaries, at('hdr.mp4'))).toMatchObject({ pixFmt: 'yuv420p10le', color: bt2020 });
    expect(await videoOf(binaries, at('hdr-out.mp4'))).toMatchObject({ pixFmt: 'yuv420p', color: bt2020 });
    await ffmpeg(['-i', at('hdr.mp4'), '-f', 'rawvideo', at('hdr.yuv')]);
    const stored = await readFile(at('hdr.yuv'));
    const written = Buffer.concat(await framesOf(binaries, at('hdr-out.mp4')));
    let difference = 0;
    for (const [i, sample] of written.entries())
      difference += Math.abs(sample - stored.readUInt16LE(2 * i) / 4);
    expect(difference / written.length).toBeLessThan(2);
  },
);

it('turns an RGB picture into BT.709 and says so', async () => {
  const red = ['-f', 'lavfi', '-i', 'color=red:s=128x96:r=25', '-frames:v', '5'];
  await ffmpeg([...red, '-c:v', 'libx264rgb', '-qp', '0', at('rgb.mp4')]);
  await passThrough(at('rgb.mp4'), at('rgb-out.mp4'), at('tone.m4a'));
  expect((await videoOf(binaries, at('rgb-out.mp4'))).color).toMatchObject({ range: 'tv', matrix: 'bt709' });
  const [frame = new Uint8Array()] = await framesOf(binaries, at('rgb-out.mp4'));
  const [luma, blue, red_] = [0, 128 * 96, 128 * 96 * 1.25].map((plane) => frame[plane] ?? 0);
  // BT.709's red in limited range; BT.601's would be 81, 90, 240.
  for (const [sample, wanted] of [
    [luma, 63],
    [blue, 102],
    [red_, 240],
  ] as const)
    expect(Math.abs((sample ?? 0) - wanted)).toBeLessThan(3);
});

it('reads odd sizes as even ones and keeps pixels that are not square', async () => {
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=129x97:r=25', '-vf', 'setsar=4/3', '-frames:v', '5'];
  await ffmpeg([...picture, '-c:v', 'libx264', '-pix_fmt', 'yuv444p', at('odd.mp4')]);
  await passThrough(at('odd.mp4'), at('odd-out.mp4'), at('tone.m4a'));
  expect(await videoOf(binaries, at('odd-out.mp4'))).toMatchObject({
    width: 128,
    height: 96,
    pixelAspect: { num: 4, den: 3 },
  });
});

describe('an encode that cannot end well', () => {
  const settings = async (frames: number): Promise<EncoderSettings> => {
    const { audio } = await inspect(binaries, at('tone.m4a'));
    if (audio === undefined) throw new Error('the tone has no audio');
    const sound = { path: at('tone.m4a'), stream: audio };
    return { outputPath: at('bad.mp4'), width: 64, height: 64, frames, color: {}, audio: sound };
  };

  it('is refused when fewer frames came than were announced', async () => {
    const encoder = openEncoder(binaries, await settings(3), { deadlineMs: DEADLINE_MS });
    await encoder.write(new Uint8Array(encoder.frameBytes));
    await expect(encoder.finish()).rejects.toMatchObject({ code: 'encode_failed' });
    await encoder.abort();
  });

  it('fails the write or the end, and does not hang, when the output cannot be written', async () => {
    const unwritable = { ...(await settings(2)), outputPath: at('no-such-folder/out.mp4') };
    const encoder = openEncoder(binaries, unwritable, { deadlineMs: DEADLINE_MS });
    const writing = (async () => {
      await encoder.write(new Uint8Array(encoder.frameBytes));
      await encoder.write(new Uint8Array(encoder.frameBytes));
      await encoder.finish();
    })();
    await expect(writing).rejects.toMatchObject({ code: 'encode_failed' });
  });

  it('stops when the caller does', async () => {
    const controller = new AbortController();
    const encoder = openEncoder(binaries, await settings(2), {
      deadlineMs: DEADLINE_MS,
      signal: controller.signal,
    });
    controller.abort();
    const writing = (async () => {
      await encoder.write(new Uint8Array(encoder.frameBytes));
      await encoder.write(new Uint8Array(encoder.frameBytes));
      await encoder.finish();
    })();
    await expect(writing).rejects.toMatchObject({ name: 'MediaProcessError', reason: 'stopped' });
  });
});

it('hears a tone as floats between -1 and 1 at 16 kHz', async () => {
  const samples = await readAudio(binaries, at('tone.wav'), { deadlineMs: DEADLINE_MS });
  expect(samples).toHaveLength(2 * AUDIO_SAMPLE_RATE);
  const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
  expect(peak).toBeGreaterThan(0.1);
  expect(peak).toBeLessThanOrEqual(1);

  const file = await open(at('tone.f32'), 'w+');
  await recordAudio(binaries, at('tone.wav'), file.fd, { deadlineMs: DEADLINE_MS });
  await file.close();
  const written = await readFile(at('tone.f32'));
  expect(written.equals(new Uint8Array(samples.buffer, 0, samples.byteLength))).toBe(true);
});

onLinux('does not hold a full disk against the sound that is written to it', async () => {
  const full = await open('/dev/full', 'w');
  const recording = recordAudio(binaries, at('tone.wav'), full.fd, { deadlineMs: DEADLINE_MS });
  const error: unknown = await recording.catch((reason: unknown) => reason);
  await full.close();
  expect(error).toMatchObject({ name: 'MediaProcessError' });
  expect(String(error)).toContain('No space left on device');
});

it.each([
  ['as many threads as the largest machine gives it', 1024],
  ['many cores in a container of 2 GiB', 2],
])('has room for the largest pictures with %s', async (_what, gibibytes) => {
  const [size, frames] = [{ width: 4096, height: 2160 }, 48];
  const { audio } = await inspect(binaries, at('tone.wav'));
  if (audio === undefined) throw new Error('the tone has no sound');
  const share = machineShare({ cores: 1024, memoryBytes: gibibytes * 1024 ** 3 }, 1);
  const large = { ...binaries, share };
  const output = at('large-out.mp4');
  const settings = { outputPath: output, ...size, frames, color: {} };
  const sound = { path: at('tone.wav'), stream: audio };
  const encoder = openEncoder(large, { ...settings, audio: sound }, { deadlineMs: DEADLINE_MS });
  const frame = new Uint8Array(encoder.frameBytes).fill(128);
  for (let i = 0; i < frames; i++) await encoder.write(frame);
  await encoder.finish();

  const layout = { format: 'rgb24', width: 16, height: 16 } as const;
  const reader = openFrameReader(large, output, await videoOf(binaries, output), {
    layout,
    deadlineMs: DEADLINE_MS,
  });
  const small = new Uint8Array(reader.frameBytes);
  let decoded = 0;
  while (await reader.readInto(small)) decoded += 1;
  await reader.close();
  expect(decoded).toBe(frames);
});
