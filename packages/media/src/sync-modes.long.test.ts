import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findClicks,
  frameNumbers,
  makeClickTrain,
  makeNumberedVideo,
  makeTurnedVideo,
  mediaTiming,
  type NumberedVideoOptions,
  shownPictures,
  variableRateSeconds,
} from '@lipsync/testkit';
import { copiesAudio } from './encode/encoder-arguments';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import { frameSize } from './probe/stream-info';
import {
  type CountedVideo,
  countFrames,
  measureAudio,
  type MeasuredAudio,
  renderTimeline,
  type SyncMode,
} from './test/media-files';

/** One frame at 25 per second, plus the rounding error of floating point. */
const FRAME = 0.04 + 1e-6;

/** Which of the shown pictures the output consists of, as the five modes are described to callers. */
const TIMELINES: Record<SyncMode, (shown: readonly number[], length: number) => number[]> = {
  cut_off: (shown, length) => shown.slice(0, length),
  silence: (shown, length) => Array.from({ length }, (_, i) => shown[i] ?? shown.at(-1) ?? -1),
  loop: (shown, length) => Array.from({ length }, (_, i) => shown[i % shown.length] ?? -1),
  bounce: (shown, length) => {
    const forthAndBack = [...shown, ...shown.slice(1, -1).reverse()];
    return Array.from({ length }, (_, i) => forthAndBack[i % forthAndBack.length] ?? -1);
  },
  // The picture on screen in the middle of each stretch, in whole numbers, so that halves do not depend on rounding.
  remap: (shown, length) =>
    Array.from({ length }, (_, i) => shown[Math.floor(((2 * i + 1) * shown.length) / (2 * length))] ?? -1),
};
const MODES = ['bounce', 'loop', 'cut_off', 'silence', 'remap'] as const;

/** Seconds of output for seconds of video and of audio, as the modes are described to callers. */
const LENGTHS: Record<SyncMode, (video: number, audio: number) => number> = {
  bounce: (_, audio) => audio,
  loop: (_, audio) => audio,
  cut_off: Math.min,
  silence: Math.max,
  remap: (_, audio) => audio,
};

type Video = NumberedVideoOptions & { readonly turned?: 90 | 180 | 270 };
/** Videos with more pictures than are kept in memory, so that backward runs are decoded; rendered with both sounds. */
const RATES: Record<string, Video> = {
  '24 fps': { frames: 41, rate: '24' },
  '25 fps': { frames: 43 },
  '29.97 fps': { frames: 51, rate: '30000/1001' },
  '30 fps': { frames: 53, rate: '30' },
  '50 fps': { frames: 87, rate: '50' },
  '60 fps': { frames: 103, rate: '60' },
  'a variable rate': { frames: 61, variableRate: true },
  'one picture': { frames: 1 },
  'one picture of a sixtieth of a second': { frames: 1, rate: '60' },
};
/** Videos rendered with one of the two sounds, alternately. */
const SHAPES: Record<string, Video> = {
  'an odd size': { frames: 43, width: 193, height: 65, filters: 'format=yuv444p' },
  'a picture turned by 90 degrees': { frames: 43, turned: 90 },
  'a picture turned by 180 degrees': { frames: 43, turned: 180 },
  'a picture turned by 270 degrees': { frames: 51, rate: '30', turned: 270 },
};
const VIDEOS = { ...RATES, ...SHAPES };

const aac = ['-c:a', 'aac', '-b:a', '96k'];
/** A longer and a shorter sound than each of those videos but the shortest, in turn. */
const SOUNDS = [
  { name: 'wav', sampleRate: 48_000, channels: 1 },
  { name: 'm4a', sampleRate: 44_100, channels: 2, encoder: aac },
  { name: 'mp3', sampleRate: 44_100, channels: 1 },
  { name: 'flac', sampleRate: 8_000, channels: 1 },
  { name: 'webm', sampleRate: 48_000, channels: 2, encoder: ['-c:a', 'libopus'] },
  { name: 'aac', sampleRate: 48_000, channels: 1, encoder: aac },
] as const;
const LONGER_SECONDS = 4.3;
const SHORTER_SECONDS = 0.9;

interface Source extends CountedVideo {
  /** The pictures that a viewer sees, 25 times a second. */
  readonly shown: readonly number[];
}
interface Sound extends MeasuredAudio {
  /** The length it was made with; what is heard may be longer by the padding that ADTS cannot mark. */
  readonly made: number;
}

let binaries: Binaries;
let folder: string;
const sources = new Map<string, Source>();
const sounds = new Map<string, Sound>();
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  folder = await mkdtemp(join(tmpdir(), 'sync-modes-'));
  await Promise.all([makeSources(), makeSounds()]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function makeSources(): Promise<void> {
  for (const [name, { turned, ...options }] of Object.entries(VIDEOS)) {
    const path = at(`${name}.mp4`);
    await (turned === undefined ? makeNumberedVideo(path, options) : makeTurnedVideo(path, turned, options));
    sources.set(name, { ...(await countFrames(binaries, path)), shown: await shownPictures(path) });
  }
}

async function makeSounds(): Promise<void> {
  for (const { name, ...options } of SOUNDS) {
    for (const seconds of [LONGER_SECONDS, SHORTER_SECONDS]) {
      const path = at(`${seconds}.${name}`);
      await makeClickTrain(path, { seconds, clicks: [0.5], ...options });
      sounds.set(`${seconds}.${name}`, { ...(await measureAudio(binaries, path)), made: seconds });
    }
  }
}

function of<Item>(items: ReadonlyMap<string, Item>, name: string): Item {
  const found = items.get(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

/** Renders a source with each sound and checks every frame, every time stamp and the length of both streams. */
async function expectOutputs(source: Source, mode: SyncMode, heard: readonly Sound[]): Promise<void> {
  const outputs = heard.map((_, i) => at(`${source.path.split('/').at(-1)}-${mode}-${i}.mp4`));
  await Promise.all(
    heard.map((audio, i) =>
      renderTimeline(binaries, { video: source, audio, outputPath: outputs[i] ?? '' }, mode),
    ),
  );
  const [numbers, timings] = await Promise.all([
    frameNumbers(outputs, frameSize(source.stream)),
    Promise.all(outputs.map((output) => mediaTiming(output))),
  ]);
  for (const [i, audio] of heard.entries()) {
    const { shown } = source;
    const [pictures = [], timing] = [numbers[i], timings[i]];
    const seconds = LENGTHS[mode](shown.length / 25, audio.made);
    const tolerance = FRAME + audio.seconds - audio.made;
    // Lengths within a frame of each other count as equal: then nothing is repeated or left out.
    const equal = Math.abs(shown.length / 25 - audio.seconds) < FRAME;
    expect(pictures).toEqual(equal ? shown : TIMELINES[mode](shown, pictures.length));
    expect(Math.abs(pictures.length / 25 - seconds)).toBeLessThan(tolerance);
    expect(timing?.pictures.starts).toEqual(pictures.map((_, n) => n / 25));
    expect(timing?.pictures.end).toBe(pictures.length / 25);
    expect(Math.abs((timing?.sound.end ?? 0) - seconds)).toBeLessThan(tolerance);
  }
}

describe.each(Object.keys(VIDEOS).map((name, i) => ({ name, kind: SOUNDS[i % SOUNDS.length]?.name ?? '' })))(
  'of a video with $name and $kind sound',
  ({ name, kind }) => {
    it.each(MODES)(
      '%s shows the right picture in every frame at a constant 25 fps, whichever of the two is longer',
      async (mode) => {
        const one = MODES.indexOf(mode) % 2 === 0 ? LONGER_SECONDS : SHORTER_SECONDS;
        const lengths = name in SHAPES ? [one] : [LONGER_SECONDS, SHORTER_SECONDS];
        const heard = lengths.map((seconds) => of(sounds, `${seconds}.${kind}`));
        await expectOutputs(of(sources, name), mode, heard);
      },
    );
  },
);

describe('0.2 s of sound', () => {
  it('make a correct output in every mode', async () => {
    await makeClickTrain(at('0.2.wav'), { seconds: 0.2, clicks: [0.1] });
    const short = { ...(await measureAudio(binaries, at('0.2.wav'))), made: 0.2 };
    for (const mode of MODES) await expectOutputs(of(sources, '29.97 fps'), mode, [short]);
  });
});

describe('the examples of the documentation', () => {
  it.each([
    { video: 4, audio: 8.64, seconds: { bounce: 8.64, loop: 8.64, cut_off: 4, silence: 8.64, remap: 8.64 } },
    {
      video: 10,
      audio: 1.74,
      seconds: { bounce: 1.74, loop: 1.74, cut_off: 1.74, silence: 10, remap: 1.74 },
    },
  ])(
    '$video s of video and $audio s of audio last $seconds, picture and sound',
    async ({ video, audio, seconds }) => {
      const [videoPath, audioPath] = [at(`${video}s.mp4`), at(`${audio}s.m4a`)];
      await makeNumberedVideo(videoPath, { frames: video * 25 });
      await makeClickTrain(audioPath, { seconds: audio, clicks: [1], encoder: aac });
      const files = {
        video: await countFrames(binaries, videoPath),
        audio: await measureAudio(binaries, audioPath),
      };
      for (const mode of MODES) {
        const outputPath = at('example.mp4');
        await renderTimeline(binaries, { ...files, outputPath }, mode);
        const { pictures, sound } = await mediaTiming(outputPath);
        expect(Math.abs(pictures.end - seconds[mode])).toBeLessThan(FRAME);
        expect(Math.abs(sound.end - seconds[mode])).toBeLessThan(FRAME);
      }
    },
  );
});

/** Half a frame at 25 per second: the closest that a picture of another rate can be shown to its own time. */
const HALF_FRAME = 0.02;
/** The smallest picture that holds a number. */
const SIZE = { width: 168, height: 16 };

/** Times at uneven distances, so that no shift maps them onto each other. */
const clickTimes = (seconds: number): number[] => {
  const times: number[] = [];
  for (let time = 0.25; time < seconds - 0.25; time += 3 + (times.length % 7) * 0.31) times.push(time);
  return times;
};

/** How far a time lies outside the stretch in which a picture is the newest, in seconds; 0 inside. */
const distance = (time: number, from: number, to: number): number => Math.max(0, from - time, time - to);

describe('300 s', () => {
  const SECONDS = 300;
  const fast = ['-c:v', 'libx264', '-preset', 'ultrafast'];
  it.each([
    {
      name: '29.97 fps',
      options: { frames: 8991, rate: '30000/1001' },
      sound: 'copied',
      timeOf: (n: number) => (n * 1001) / 30_000,
    },
    {
      name: 'a variable rate',
      options: { frames: 8979, variableRate: true },
      sound: 'encoded',
      timeOf: variableRateSeconds,
    },
  ])(
    'of $name end without drift: every frame is within half a frame of its time, and every click of the $sound sound',
    async ({ name, options, sound, timeOf }) => {
      const [videoPath, outputPath] = [at(`${name}.mp4`), at(`${name}-out.mp4`)];
      const audioPath = at(sound === 'copied' ? 'long.m4a' : 'long.wav');
      const clicks = clickTimes(SECONDS);
      await Promise.all([
        makeNumberedVideo(videoPath, { ...options, ...SIZE, encoder: fast }),
        makeClickTrain(audioPath, { seconds: SECONDS, clicks, sampleRate: 44_100 }),
      ]);
      const [video, audio] = await Promise.all([
        countFrames(binaries, videoPath),
        measureAudio(binaries, audioPath),
      ]);
      expect(copiesAudio({ path: audioPath, stream: audio.stream })).toBe(sound === 'copied');
      await renderTimeline(binaries, { video, audio, outputPath }, 'cut_off');

      const [[numbers = []], timing, found] = await Promise.all([
        frameNumbers([outputPath], SIZE),
        mediaTiming(outputPath),
        findClicks(outputPath),
      ]);
      expect(numbers).toHaveLength(SECONDS * 25);
      const off = numbers.map((n, i) => distance(timing.pictures.starts[i] ?? -1, timeOf(n), timeOf(n + 1)));
      expect(Math.max(...off)).toBeLessThan(HALF_FRAME + 1e-6);
      expect(found).toHaveLength(clicks.length);
      expect(Math.max(...found.map((time, i) => Math.abs(time - (clicks[i] ?? 0))))).toBeLessThan(0.005);
      expect(Math.abs(timing.sound.end - SECONDS)).toBeLessThan(HALF_FRAME * 2);
    },
    120_000,
  );
});
