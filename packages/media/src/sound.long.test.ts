import { appendFile, readFile } from 'node:fs/promises';
import {
  clicksIn,
  ffmpeg,
  findClicks,
  makeClickTrain,
  makeNumberedVideo,
  mediaTiming,
  testFolder,
} from '@lipsync/testkit';
import { AUDIO_SAMPLE_RATE, readAudio } from './audio-reader';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import {
  type ClockedVideo,
  measureAudio,
  readClock,
  renderTimeline,
  soundOf,
  type SyncMode,
} from './test/media-files';

const DEADLINE_MS = 60_000;
const SECONDS = 3.2;
const CLICKS = [0.25, 1.1, 1.34, 2.6, 3.1];
/** How far resampling and lossy coding may move a click: one frame, 0.04 s. */
const FRAME = 1 / 25;
const CLICK_TOLERANCE = 0.004;

let binaries: Binaries;
const at = testFolder();
/** Two frames, so every longer sound outlasts this video. */
let still: ClockedVideo;
/** Longer than every sound here. */
let long: ClockedVideo;

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  await makeNumberedVideo(at('still.mp4'), { frames: 2 });
  await makeNumberedVideo(at('long.mp4'), { frames: 100 });
  [still, long] = [await readClock(binaries, at('still.mp4')), await readClock(binaries, at('long.mp4'))];
});

interface Recording {
  readonly file: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly encoder?: readonly string[];
  /** Seconds by which the sound starts after the pictures beside it. */
  readonly late?: number;
  /** Seconds at which the clock of such a file begins. */
  readonly clock?: number;
}

async function record({ file, late, clock = 0, ...options }: Recording): Promise<string> {
  const path = at(file);
  if (late === undefined) {
    await makeClickTrain(path, { seconds: SECONDS, clicks: CLICKS, ...options });
    return path;
  }
  const sound = at(`punctual-${file}`);
  await makeClickTrain(sound, { seconds: SECONDS, clicks: CLICKS, ...options });
  const both = ['-i', at('long.mp4'), '-itsoffset', String(late), '-i', sound, '-map', '0:v', '-map', '1:a'];
  await ffmpeg([...both, '-c', 'copy', '-output_ts_offset', String(clock), path]);
  return path;
}

async function render(video: ClockedVideo, audioPath: string, mode: SyncMode): Promise<string> {
  const outputPath = at(`${mode}-out.mp4`);
  await renderTimeline(binaries, { video, audio: await measureAudio(binaries, audioPath), outputPath }, mode);
  return outputPath;
}

/** The times of the clicks that the engines hear in a file. */
async function heardClicks(file: string): Promise<number[]> {
  return clicksIn(await readAudio(binaries, file, { deadlineMs: DEADLINE_MS }), AUDIO_SAMPLE_RATE);
}

function expectSameTimes(
  found: readonly number[],
  expected: readonly number[],
  tolerance = CLICK_TOLERANCE,
): void {
  expect(found).toHaveLength(expected.length);
  const off = found.map((time, i) => Math.abs(time - (expected[i] ?? Infinity)));
  expect(Math.max(...off)).toBeLessThan(tolerance);
}

/** Hash of the packets as they are stored. */
async function packets(file: string): Promise<string> {
  return (await ffmpeg(['-i', file, '-map', '0:a:0', '-c', 'copy', '-f', 'md5', 'pipe:1'])).toString();
}

const aac = ['-c:a', 'aac', '-b:a', '128k'];

describe('the whole sound', () => {
  it.each<Recording>([
    { file: 'stereo.m4a', sampleRate: 44_100, channels: 2, encoder: aac },
    { file: 'surround.m4a', sampleRate: 48_000, channels: 6, encoder: aac },
    { file: 'fast.m4a', sampleRate: 96_000, channels: 2, encoder: aac },
    { file: 'late.mp4', sampleRate: 48_000, channels: 1, encoder: aac, late: 0.5 },
    { file: 'late-at-one.mkv', sampleRate: 48_000, channels: 1, encoder: aac, late: 0.5, clock: 3600 },
    { file: 'a-little-late.mp4', sampleRate: 44_100, channels: 2, encoder: aac, late: 0.03 },
  ])(
    'of $file is copied: the packets are the original ones, heard where the engines hear them',
    async (source) => {
      const path = await record(source);
      const output = await render(still, path, 'loop');
      expect(await packets(output)).toBe(await packets(path));
      expect(await soundOf(binaries, output)).toMatchObject({
        codec: 'aac',
        sampleRate: source.sampleRate,
        channels: source.channels,
        startSeconds: 0,
      });
      expectSameTimes(await findClicks(output), await heardClicks(path));
      // Some of these containers cannot mark the padding before AAC's first sample; it is less than a frame.
      expectSameTimes(await heardClicks(path), CLICKS, FRAME);
    },
  );

  it('of a raw AAC stream is copied, with the padding at its start that such a stream cannot mark', async () => {
    const path = await record({ file: 'raw.aac', sampleRate: 48_000, channels: 1, encoder: aac });
    const output = await render(still, path, 'loop');
    expect(await soundOf(binaries, output)).toMatchObject({ codec: 'aac', sampleRate: 48_000, channels: 1 });
    expectSameTimes(await findClicks(output), await heardClicks(path));
  });

  it.each<
    Recording & {
      keptRate?: number;
      keptChannels?: number;
      /** Samples that the encoder puts before the sound, which these containers cannot mark; or that it swallows. */
      padded?: number;
    }
  >([
    { file: 'mono.wav', sampleRate: 44_100, channels: 1 },
    { file: 'studio.wav', sampleRate: 96_000, channels: 2, keptRate: 48_000 },
    { file: 'surround.flac', sampleRate: 48_000, channels: 6 },
    { file: 'quadro.flac', sampleRate: 48_000, channels: 4, keptChannels: 2 },
    { file: 'stereo.mp3', sampleRate: 44_100, channels: 2 },
    { file: 'mono.webm', sampleRate: 48_000, channels: 1, encoder: ['-c:a', 'libopus'] },
    { file: 'late.mkv', sampleRate: 48_000, channels: 1, encoder: ['-c:a', 'flac'], late: 0.5 },
    { file: 'studio.aiff', sampleRate: 96_000, channels: 2, keptRate: 48_000 },
    { file: 'surround.eac3', sampleRate: 48_000, channels: 6, padded: 256 },
    { file: 'stereo.wma', sampleRate: 44_100, channels: 2, padded: -2048 },
    { file: 'late.ts', sampleRate: 48_000, channels: 2, encoder: ['-c:a', 'ac3'], late: 0.5, padded: 256 },
    { file: 'packed.ts', sampleRate: 48_000, channels: 1, encoder: aac, padded: 1024 },
  ])('of $file becomes AAC with its rate and channels, heard where the engines hear it', async (source) => {
    const path = await record(source);
    const output = await render(still, path, 'loop');
    expect(await soundOf(binaries, output)).toMatchObject({
      codec: 'aac',
      profile: 'LC',
      startSeconds: 0,
      sampleRate: source.keptRate ?? source.sampleRate,
      channels: source.keptChannels ?? source.channels,
    });
    expectSameTimes(await findClicks(output), await heardClicks(path));
    const padding = (source.padded ?? 0) / source.sampleRate;
    expectSameTimes(
      await heardClicks(path),
      CLICKS.map((click) => click + padding),
    );
  });
});

test.each([1, 2, 6])(
  'a voice on each of %i channels is heard no louder than it is on one',
  async (channels) => {
    const wave = Array.from({ length: channels }, () => '0.9*sin(880*PI*t)').join('|');
    const path = at(`loud-${channels}.wav`);
    await ffmpeg(['-f', 'lavfi', '-i', `aevalsrc=${wave}:s=48000:d=0.5`, '-c:a', 'pcm_f32le', path]);
    const heard = await readAudio(binaries, path, { deadlineMs: DEADLINE_MS });
    const loudest = heard.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(loudest).toBeGreaterThan(0.85);
    expect(loudest).toBeLessThan(0.95);
  },
);

describe('a sound whose channels or rate change midway', () => {
  /** Appends one file's bytes to another's, as with an advertisement in front of a podcast or with chained Ogg. */
  async function joined(extension: string, encoder: readonly string[], sampleRate = 48_000): Promise<string> {
    const [path, rest] = [at(`joined.${extension}`), at(`rest.${extension}`)];
    await makeClickTrain(path, { seconds: 1.5, clicks: [0.25, 1.1], channels: 1, encoder });
    await makeClickTrain(rest, { seconds: 1.6, clicks: [0.4, 1.3], encoder, channels: 2, sampleRate });
    await appendFile(path, await readFile(rest));
    return path;
  }

  it.each<[string, readonly string[], SyncMode]>([
    ['mp3', [], 'loop'],
    ['mp3', [], 'silence'],
    ['ogg', ['-c:a', 'libvorbis'], 'loop'],
    ['aac', aac, 'loop'],
  ])(
    'as %s is whole in the output, heard where the engines hear it (%s %s)',
    async (extension, encoder, mode) => {
      const path = await joined(extension, encoder);
      const output = await render(mode === 'loop' ? still : long, path, mode);
      const heard = await heardClicks(path);
      expect(heard).toHaveLength(4);
      // The engines skip the padding in front of the second part; it is less than a frame.
      expectSameTimes(await findClicks(output), heard, FRAME);
      const { pictures, sound } = await mediaTiming(output);
      expect(Math.abs(sound.end - pictures.end)).toBeLessThan(2 * FRAME);
    },
  );

  it('as raw AAC with another rate is not copied under the first rate, which would play it too fast', async () => {
    const path = await joined('aac', aac, 32_000);
    expectSameTimes(await findClicks(await render(still, path, 'loop')), await heardClicks(path), FRAME);
  });
});

describe('a cut or continued sound', () => {
  it.each<Recording & { copied: boolean }>([
    { file: 'cut.m4a', sampleRate: 44_100, channels: 2, encoder: aac, copied: true },
    { file: 'cut-late.mp4', sampleRate: 48_000, channels: 1, encoder: aac, late: 0.5, copied: true },
    { file: 'cut-telephone.m4a', sampleRate: 8_000, channels: 1, encoder: aac, copied: false },
    { file: 'cut.wav', sampleRate: 44_100, channels: 1, copied: false },
  ])('of $file ends with the picture in cut_off; packets copied: $copied', async ({ copied, ...source }) => {
    const path = await record(source);
    await makeNumberedVideo(at('cut.mp4'), { frames: 37 });
    const output = await render(await readClock(binaries, at('cut.mp4')), path, 'cut_off');
    const { pictures, sound } = await mediaTiming(output);
    expect(pictures.end).toBe(37 / 25);
    expect(Math.abs(sound.end - pictures.end)).toBeLessThan(FRAME);
    expectSameTimes(await findClicks(output), (await heardClicks(path)).slice(0, 3));
    const [whole, kept] = [await sizes(path), await sizes(output)];
    expect(kept.length).toBeLessThan(whole.length);
    expect(kept.join() === whole.slice(0, kept.length).join()).toBe(copied);
  });

  it.each<Recording>([
    { file: 'pad.m4a', sampleRate: 44_100, channels: 2, encoder: aac },
    { file: 'pad.wav', sampleRate: 8_000, channels: 1 },
  ])('of $file goes on with silence to the end of the picture in silence', async (source) => {
    const path = await record(source);
    const output = await render(long, path, 'silence');
    const { pictures, sound } = await mediaTiming(output);
    expect(pictures.end).toBe(4);
    expect(Math.abs(sound.end - 4)).toBeLessThan(FRAME);
    expectSameTimes(await findClicks(output), await heardClicks(path));
  });
});

/** Bytes of each packet of sound. */
async function sizes(file: string): Promise<string[]> {
  const list = await ffmpeg(['-i', file, '-map', '0:a:0', '-c', 'copy', '-f', 'framemd5', 'pipe:1']);
  return list
    .toString()
    .split('\n')
    .filter((line) => line.startsWith('0,'))
    .map((line) => line.split(',').slice(4).join());
}
