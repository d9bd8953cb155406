import { open, readFile, writeFile } from 'node:fs/promises';
import { type Clock, constantClock, endOf, framesOf } from '@lipsync/domain';
import {
  ffmpeg,
  ffprobe,
  makeNumberedVideo,
  makeTone,
  mediaTiming,
  readFrameNumber,
  testFolder,
} from '@lipsync/testkit';
import { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from '../audio-reader';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { probe } from '../probe/probe';
import { expectColorKept } from '../test/expect-color-kept';
import { framesOf as decodedFrames, passThrough, soundOf, videoOf } from '../test/media-files';
import { openEncoder } from './encoder';
import { type EncoderSettings } from './encoder-arguments';

/** Only Linux offers what these tests need to observe this. */
const onLinux = process.platform === 'linux' ? test : test.skip;
const DEADLINE_MS = 60_000;

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  await makeTone(at('tone.m4a'), { seconds: 2 });
  await makeTone(at('tone.wav'), { seconds: 2, sampleRate: 96_000 });
});

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
    const written = await decodedFrames(binaries, at('plain-out.mp4'));
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

it('makes sound of any kind AAC that every player takes, at its own times', async () => {
  await makeNumberedVideo(at('few.mp4'), { frames: 5 });
  await passThrough(binaries, at('few.mp4'), at('few-out.mp4'), at('tone.wav'));
  expect(await soundOf(binaries, at('few-out.mp4'))).toMatchObject({ codec: 'aac', sampleRate: 48_000 });
  const { sound } = await mediaTiming(at('few-out.mp4'));
  expect(sound.end).toBeCloseTo(2, 6);
  const steps = sound.starts.slice(1).map((start, i) => start - (sound.starts[i] ?? 0));
  // 1024 samples a packet.
  for (const step of steps) expect(step).toBeCloseTo(1024 / 48_000, 6);
});

it('carries full-range color over without touching a sample', () =>
  expectColorKept(binaries, at(), ['-color_range', 'pc', '-colorspace', 'bt470bg', '-pix_fmt', 'yuvj420p']));

it('turns an RGB picture into BT.709 and says so', async () => {
  const red = ['-f', 'lavfi', '-i', 'color=red:s=128x96:r=25', '-frames:v', '5'];
  await ffmpeg([...red, '-c:v', 'libx264rgb', '-qp', '0', at('rgb.mp4')]);
  await passThrough(binaries, at('rgb.mp4'), at('rgb-out.mp4'), at('tone.m4a'));
  expect((await videoOf(binaries, at('rgb-out.mp4'))).color).toMatchObject({ range: 'tv', matrix: 'bt709' });
  const [frame = new Uint8Array()] = await decodedFrames(binaries, at('rgb-out.mp4'));
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

/** Settings for an output beside the tone, of small pictures if nothing else is said. */
async function settingsOf(
  outputPath: string,
  clock: Clock,
  changes: Partial<EncoderSettings> = {},
): Promise<EncoderSettings> {
  const audio = { path: at('tone.m4a'), stream: await soundOf(binaries, at('tone.m4a')) };
  return { outputPath, width: 64, height: 64, depth: 8, clock, color: {}, audio, ...changes };
}

/** Encodes frames whose samples are those of `frame`, or gray. */
async function encode(settings: EncoderSettings, frame?: Uint8Array): Promise<void> {
  const encoder = openEncoder(binaries, settings, { deadlineMs: DEADLINE_MS });
  const samples = frame ?? new Uint8Array(encoder.frameBytes).fill(128);
  for (let i = 0; i < framesOf(settings.clock); i++) await encoder.write(samples);
  await encoder.finish();
}

describe('the frames of an output', () => {
  const ntsc = constantClock({ num: 30_000, den: 1001 }, 40);
  const film = constantClock({ num: 24, den: 1 }, 40);
  /** As of a telephone: every frame lasts for another time, the last one for the longest. */
  const variable: Clock = {
    timescale: 1_000_000,
    ticks: Uint32Array.from(
      { length: 42 },
      (_, n) => n * 33_367 + ((n * n * 7) % 23) * 400 + (n > 40 ? 60_000 : 0),
    ),
  };

  it.each([
    ['30000/1001', ntsc, '1/30000', '30000/1001'],
    ['24', film, '1/24000', '24/1'],
    ['a variable rate', variable, '1/1000000', undefined],
  ])(
    'at %s appear at exactly their ticks, the first at zero, and the last as long as it should',
    async (_rate, clock, unit, rate) => {
      const output = at('timed.mp4');
      const { audio, ...settings } = await settingsOf(output, clock);
      // So that the end of the file is that of the pictures.
      await encode({ ...settings, audio: { ...audio, trimSeconds: 0.5 } });
      const entries = 'stream=time_base,avg_frame_rate,start_pts:packet=pts:format=duration';
      const probed = ['-select_streams', 'v:0', '-show_entries', entries, '-of', 'json', output];
      const { streams, packets, format } = JSON.parse(await ffprobe(probed)) as {
        streams: { time_base: string; avg_frame_rate: string; start_pts: number }[];
        packets: { pts: number }[];
        format: { duration: string };
      };
      const perTick = Number(unit.slice(2)) / clock.timescale;
      expect(streams).toMatchObject([
        { time_base: unit, start_pts: 0, ...(rate && { avg_frame_rate: rate }) },
      ]);
      const shown = packets.map(({ pts }) => pts).sort((a, b) => a - b);
      expect(shown).toEqual([...clock.ticks.subarray(0, -1)].map((tick) => tick * perTick));
      // With B-frames, so that the order of packets is another one.
      expect(packets.map(({ pts }) => pts)).not.toEqual(shown);
      // Some versions of ffprobe add up decoding times, which differ a little.
      expect(Math.abs(Number(format.duration) - endOf(clock))).toBeLessThan(0.005);
    },
  );

  it('of PQ come back in 10 bits with their colors, and what is known of their display and light', async () => {
    const hdr = {
      masteringDisplay: {
        red: [34_000, 16_000],
        green: [13_250, 34_500],
        blue: [7_500, 3_000],
        white: [15_635, 16_450],
        luminance: { min: 1, max: 10_000_000 },
      },
      contentLight: { maxCll: 1000, maxFall: 400 },
    } as const;
    const color = { range: 'tv', matrix: 'bt2020nc', primaries: 'bt2020', transfer: 'smpte2084' } as const;
    const [width, height] = [192, 64];
    // A ramp of all codes that 192 pixels can have, on neutral chroma.
    const frame = Buffer.alloc(width * height * 3);
    for (let i = 0; i < (width * height * 3) / 2; i++)
      frame.writeUInt16LE(i < width * height ? 64 + 4 * (i % width) : 512, 2 * i);
    const output = at('pq.mp4');
    const changes = { width, height, depth: 10, color, hdr } as const;
    await encode(await settingsOf(output, constantClock({ num: 25, den: 1 }, 5), changes), frame);

    expect(await videoOf(binaries, output)).toMatchObject({
      codec: 'hevc',
      pixFmt: 'yuv420p10le',
      color,
      hdr,
    });
    const file = await readFile(output);
    for (const box of ['hvc1', 'mdcv', 'clli', 'colr']) expect(file.includes(box)).toBe(true);
    const decoded = await ffmpeg([
      '-i',
      output,
      '-frames:v',
      '1',
      '-f',
      'rawvideo',
      '-pix_fmt',
      'yuv420p10le',
      'pipe:1',
    ]);
    const codes = new Set(Array.from({ length: width * height }, (_, i) => decoded.readUInt16LE(2 * i)));
    expect(codes.size).toBeGreaterThan(180);
  });
});

it('carries the timecode of the pictures and the language of the sound', async () => {
  const clock = constantClock({ num: 30_000, den: 1001 }, 5);
  const { audio, ...settings } = await settingsOf(at('labeled.mp4'), clock, { timecode: '01:00:00;02' });
  await encode({ ...settings, audio: { ...audio, stream: { ...audio.stream, language: 'ger' } } });
  expect(await videoOf(binaries, at('labeled.mp4'))).toMatchObject({ timecode: '01:00:00;02' });
  expect(await soundOf(binaries, at('labeled.mp4'))).toMatchObject({ language: 'ger' });
});

describe('an encode that cannot end well', () => {
  const settings = (frames: number): Promise<EncoderSettings> =>
    settingsOf(at('bad.mp4'), constantClock({ num: 25, den: 1 }, frames));

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
