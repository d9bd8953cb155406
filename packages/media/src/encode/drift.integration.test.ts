import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findClicks,
  frameNumbers,
  makeClickTrain,
  makeNumberedVideo,
  mediaTiming,
  variableRateSeconds,
} from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { countFrames, hearAudio, renderTimeline } from '../test/render-timeline';
import { copiesAudio } from './encoder-audio';

const DEADLINE_MS = 120_000;
jest.setTimeout(DEADLINE_MS);

/** Half a frame at 25 per second: the closest that a picture of another rate can be shown to its own time. */
const HALF_FRAME = 0.02;
/** The smallest picture that holds a number. */
const SIZE = { width: 168, height: 16 };

let binaries: Binaries;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  folder = await mkdtemp(join(tmpdir(), 'drift-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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
      ...{ name: '29.97 fps', options: { frames: 8991, rate: '30000/1001' } },
      ...{ sound: 'copied', timeOf: (n: number) => (n * 1001) / 30_000 },
    },
    {
      ...{ name: 'a variable rate', options: { frames: 8979, variableRate: true } },
      ...{ sound: 'encoded', timeOf: variableRateSeconds },
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
        hearAudio(binaries, audioPath),
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
  );
});
