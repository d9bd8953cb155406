import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpeg, makeNumberedVideo, makeTone, readFrameNumber } from '@lipsync/testkit';
import { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from '../audio-reader';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { inspect } from '../probe/inspect';
import { probe } from '../probe/probe';
import { expectColorKept } from '../test/expect-color-kept';
import { framesOf, passThrough, soundOf, videoOf } from '../test/media-files';
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

describe('an output', () => {
  beforeAll(async () => {
    await makeNumberedVideo(at('plain.mp4'), { frames: 50 });
    const chapter = ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=Alice\n';
    await writeFile(at('chapters.txt'), chapter);
    const tags = ['-metadata', 'artist=Alice', '-metadata:s:a:0', 'handler_name=Alice', '-map_chapters', '1'];
    await ffmpeg(['-i', at('tone.m4a'), '-i', at('chapters.txt'), '-c', 'copy', ...tags, at('alice.m4a')]);
    await passThrough(binaries, at('plain.mp4'), at('plain-out.mp4'), at('alice.m4a'));
  });

  it('has exactly the frames it was given, in order, and the sound beside them', async () => {
    const written = await framesOf(binaries, at('plain-out.mp4'));
    expect(written.map((frame) => readFrameNumber(frame, 192))).toEqual(
      Array.from({ length: 50 }, (_, i) => i),
    );
    const options = { deadlineMs: DEADLINE_MS };
    const { video } = await probe(binaries, at('plain-out.mp4'), { mediaType: 'video', ...options });
    expect(video).toMatchObject({ codec: 'h264', frames: 50, fps: 25, durationSeconds: 2 });
    const { audio } = await probe(binaries, at('plain-out.mp4'), { mediaType: 'audio', ...options });
    expect(audio).toMatchObject({ codec: 'aac', sampleRate: 44_100 });
  });

  it('tells its viewers nothing that its sound file says about its maker', async () => {
    expect((await readFile(at('alice.m4a'))).includes('Alice')).toBe(true);
    expect((await readFile(at('plain-out.mp4'))).includes('Alice')).toBe(false);
  });

  it('has the index before the media, so that a download can be played while it runs', async () => {
    const bytes = await readFile(at('plain-out.mp4'));
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });
});

it('makes sound of any kind AAC that every player takes', async () => {
  await makeNumberedVideo(at('few.mp4'), { frames: 5 });
  await passThrough(binaries, at('few.mp4'), at('few-out.mp4'), at('tone.wav'));
  expect(await soundOf(binaries, at('few-out.mp4'))).toMatchObject({ codec: 'aac', sampleRate: 48_000 });
});

it('carries full-range color over without touching a sample', () =>
  expectColorKept(binaries, folder, [
    '-color_range',
    'pc',
    '-colorspace',
    'bt470bg',
    '-pix_fmt',
    'yuvj420p',
  ]));

it('turns an RGB picture into BT.709 and says so', async () => {
  const red = ['-f', 'lavfi', '-i', 'color=red:s=128x96:r=25', '-frames:v', '5'];
  await ffmpeg([...red, '-c:v', 'libx264rgb', '-qp', '0', at('rgb.mp4')]);
  await passThrough(binaries, at('rgb.mp4'), at('rgb-out.mp4'), at('tone.m4a'));
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
  await passThrough(binaries, at('odd.mp4'), at('odd-out.mp4'), at('tone.m4a'));
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
