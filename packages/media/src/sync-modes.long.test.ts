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
import { copiesAudio } from './encode/sound-arguments';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import { frameSize } from './probe/stream-info';
import { countFrames, measureAudio, renderTimeline } from './test/media-files';

let binaries: Binaries;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  folder = await mkdtemp(join(tmpdir(), 'sync-modes-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Video = NumberedVideoOptions & { readonly turned?: 90 | 180 | 270 };
/** Most have more pictures than are kept in memory, so that backward runs are decoded. */
const VIDEOS: Record<string, Video> = {
  '24 fps': { frames: 41, rate: '24' },
  '25 fps': { frames: 43 },
  '29.97 fps': { frames: 51, rate: '30000/1001' },
  '30 fps': { frames: 53, rate: '30' },
  '50 fps': { frames: 87, rate: '50' },
  '60 fps': { frames: 103, rate: '60' },
  'a variable rate': { frames: 61, variableRate: true },
  'one picture': { frames: 1 },
  'one picture of a sixtieth of a second': { frames: 1, rate: '60' },
  'an odd size': { frames: 43, width: 193, height: 65, filters: 'format=yuv444p' },
  'a picture turned by 90 degrees': { frames: 43, turned: 90 },
  'a picture turned by 180 degrees': { frames: 43, turned: 180 },
  'a picture turned by 270 degrees': { frames: 51, rate: '30', turned: 270 },
};

// What the other modes make of a timeline is tested in `timeline.unit.test.ts` of domain, the frames of any timeline in
// `frame-source.integration.test.ts`, and whole renders in every mode in `sync-modes.long.test.ts` of gpu-worker.
it.each(Object.entries(VIDEOS))(
  'a video of %s shows the right picture in every frame at a constant 25 fps, forth and back',
  async (name, { turned, ...options }) => {
    const [videoPath, audioPath, outputPath] = [at(`${name}.mp4`), at('sound.wav'), at(`${name}-out.mp4`)];
    await (turned === undefined
      ? makeNumberedVideo(videoPath, options)
      : makeTurnedVideo(videoPath, turned, options));
    await makeClickTrain(audioPath, { seconds: 4.28, clicks: [0.5] });
    const video = await countFrames(binaries, videoPath);
    const audio = await measureAudio(binaries, audioPath);
    await renderTimeline(binaries, { video, audio, outputPath }, 'bounce');

    const shown = await shownPictures(videoPath);
    const forthAndBack = [...shown, ...shown.slice(1, -1).reverse()];
    const numbers = await frameNumbers(outputPath, frameSize(video.stream));
    expect(numbers).toEqual(Array.from({ length: 107 }, (_, i) => forthAndBack[i % forthAndBack.length]));
    const { pictures, sound } = await mediaTiming(outputPath);
    expect(pictures.starts).toEqual(numbers.map((_, n) => n / 25));
    expect(pictures.end).toBe(4.28);
    expect(Math.abs(sound.end - 4.28)).toBeLessThan(1 / 25);
  },
);

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
      const [videoPath, outputPath] = [at(`long ${name}.mp4`), at(`long ${name}-out.mp4`)];
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

      const numbers = await frameNumbers(outputPath, SIZE);
      const timing = await mediaTiming(outputPath);
      const found = await findClicks(outputPath);
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
