import {
  findClicks,
  frameNumbers,
  makeClickTrain,
  makeNumberedVideo,
  makeTurnedVideo,
  mediaTiming,
  type NumberedVideoOptions,
  pictureTiming,
  testFolder,
  variableRateSeconds,
} from '@lipsync/testkit';
import { copiesAudio } from './encode/sound-arguments';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import { frameSize } from './probe/stream-info';
import { type ClockedVideo, measureAudio, readClock, renderTimeline } from './test/media-files';

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

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
  'a video of %s shows every picture at its own time, forth and back',
  async (name, { turned, ...options }) => {
    const [videoPath, audioPath, outputPath] = [at(`${name}.mp4`), at('sound.wav'), at(`${name}-out.mp4`)];
    await (turned === undefined
      ? makeNumberedVideo(videoPath, options)
      : makeTurnedVideo(videoPath, turned, options));
    await makeClickTrain(audioPath, { seconds: 4.28, clicks: [0.5] });
    const video = await readClock(binaries, videoPath);
    const audio = await measureAudio(binaries, audioPath);
    await renderTimeline(binaries, { video, audio, outputPath }, 'bounce');

    const numbers = await frameNumbers(outputPath, frameSize(video.stream));
    const { pictures, sound } = await mediaTiming(outputPath);
    const { starts } = await pictureTiming(videoPath);
    const shown = numbersOf(video);
    expect(new Set(shown).size).toBe(options.frames);
    const forthAndBack = [...shown, ...shown.slice(1, -1).reverse()];
    expect(numbers).toEqual(numbers.map((_, i) => forthAndBack[i % forthAndBack.length]));
    const off = shown.flatMap((picture, frame) =>
      video.held[frame] === 0
        ? [(pictures.starts[frame] ?? -1) - ((starts[picture] ?? 0) - (starts[0] ?? 0))]
        : [],
    );
    expect(Math.max(...off.map(Math.abs))).toBeLessThan(1e-3);
    expect(pictures.end).toBeLessThan(4.28 + 1e-3);
    expect(pictures.end).toBeGreaterThan(4.28 - 0.06);
    expect(Math.abs(sound.end - 4.28)).toBeLessThan(1 / 25);
  },
);

/** The picture that each frame of the clip shows. */
function numbersOf({ held }: ClockedVideo): number[] {
  let picture = -1;
  return Array.from(held, (isHeld) => (isHeld === 1 ? picture : (picture += 1)));
}

/** The smallest picture that holds a number. */
const SIZE = { width: 168, height: 16 };

/** Times at uneven distances, so that no shift maps them onto each other. */
const clickTimes = (seconds: number): number[] => {
  const times: number[] = [];
  for (let time = 0.25; time < seconds - 0.25; time += 3 + (times.length % 7) * 0.31) times.push(time);
  return times;
};

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
    'of $name end without drift: every picture is within 1 ms of its time, and every click of the $sound sound',
    async ({ name, options, sound, timeOf }) => {
      const [videoPath, outputPath] = [at(`long ${name}.mp4`), at(`long ${name}-out.mp4`)];
      const audioPath = at(sound === 'copied' ? 'long.m4a' : 'long.wav');
      const clicks = clickTimes(SECONDS);
      await Promise.all([
        makeNumberedVideo(videoPath, { ...options, ...SIZE, encoder: fast }),
        makeClickTrain(audioPath, { seconds: SECONDS, clicks, sampleRate: 44_100 }),
      ]);
      const [video, audio] = await Promise.all([
        readClock(binaries, videoPath),
        measureAudio(binaries, audioPath),
      ]);
      expect(copiesAudio({ path: audioPath, stream: audio.stream })).toBe(sound === 'copied');
      await renderTimeline(binaries, { video, audio, outputPath }, 'cut_off');

      const numbers = await frameNumbers(outputPath, SIZE);
      const timing = await mediaTiming(outputPath);
      const found = await findClicks(outputPath);
      const own = numbers.flatMap((n, frame) => (n === numbers[frame - 1] ? [] : [frame]));
      expect(own.map((frame) => numbers[frame])).toEqual(Array.from({ length: options.frames }, (_, n) => n));
      const off = own.map((frame, n) =>
        Math.abs((timing.pictures.starts[frame] ?? -1) - (timeOf(n) - timeOf(0))),
      );
      expect(Math.max(...off)).toBeLessThan(1e-3);
      expect(found).toHaveLength(clicks.length);
      expect(Math.max(...found.map((time, i) => Math.abs(time - (clicks[i] ?? 0))))).toBeLessThan(0.005);
      expect(Math.abs(timing.sound.end - SECONDS)).toBeLessThan(0.04);
    },
    120_000,
  );
});
