import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { type Engine, ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { type Clock, constantClock, secondsAt, timelineOf, usualStep } from '@lipsync/domain';
import {
  ffmpeg,
  findClicks,
  frameNumbers,
  makeClickTrain,
  makeNumberedVideo,
  makeTurnedVideo,
  mediaTiming,
  type NumberedVideoOptions,
  testFolder,
  variableRateSeconds,
} from '@lipsync/testkit';
import { type Inference, startInference } from './start-inference';
import { COMPILED_CHILD } from './test/real-child';

const SAMPLE = join(__dirname, '../../../samples/face.mp4');
/** A number in the first 16 lines, a face below it. */
const SIZE = { width: 256, height: 272 };
const FACE = `null[n];movie=${SAMPLE},scale=256:256,setpts=N/FRAME_RATE/TB[f];[n][f]overlay=0:16:format=auto:shortest=1`;

interface Case {
  readonly what: string;
  readonly engine: Engine;
  readonly mode: SyncMode;
  readonly video: NumberedVideoOptions & { readonly turned?: 90 | 180 | 270 };
  readonly sound: {
    readonly file: string;
    readonly seconds: number;
    readonly sampleRate: number;
    readonly late?: number;
  };
}

const upTo = (length: number): number[] => Array.from({ length }, (_, i) => i);

/** One click shortly after the beginning and one shortly before the end, if the sound is long enough for two. */
const clicksIn = (seconds: number): number[] => (seconds < 0.5 ? [0.1] : [0.1, seconds - 0.15]);

/** When the pictures of a numbered video are on screen. */
function clockOf({ frames, rate = '25', variableRate = false }: NumberedVideoOptions): Clock {
  const [num = 25, den = 1] = rate.split('/').map(Number);
  if (!variableRate) return constantClock({ num, den }, frames);
  const ticks = upTo(frames).map((n) => Math.round(1000 * (variableRateSeconds(n) - variableRateSeconds(0))));
  const appearing = { timescale: 1000, ticks: Uint32Array.from(ticks) };
  return { ...appearing, ticks: Uint32Array.from([...ticks, (ticks.at(-1) ?? 0) + usualStep(appearing)]) };
}

/** Unusual properties of files from phones and recorders. */
const UNUSUAL: Case[] = [
  {
    what: 'a turned 29.97 fps video and 1.9 s of AAC',
    engine: 'musetalk',
    mode: 'bounce',
    video: { frames: 42, rate: '30000/1001', turned: 90 },
    sound: { file: 'a.m4a', seconds: 1.9, sampleRate: 44_100 },
  },
  {
    what: 'a 24 fps video and sound that starts late',
    engine: 'musetalk',
    mode: 'cut_off',
    video: { frames: 40, rate: '24' },
    sound: { file: 'b.mp4', seconds: 1.2, sampleRate: 48_000, late: 0.5 },
  },
  {
    what: 'one picture and 0.2 s of sound',
    engine: 'musetalk',
    mode: 'silence',
    video: { frames: 1, rate: '60' },
    sound: { file: 'c.wav', seconds: 0.2, sampleRate: 48_000 },
  },
  {
    what: 'a video of variable rate and shorter MP3',
    engine: 'latentsync',
    mode: 'remap',
    video: { frames: 30, variableRate: true },
    sound: { file: 'd.mp3', seconds: 0.72, sampleRate: 44_100 },
  },
  {
    what: 'a 60 fps video of odd size and telephone sound',
    engine: 'highsync',
    mode: 'loop',
    video: { frames: 48, rate: '60', filters: 'pad=257:273,format=yuv444p' },
    sound: { file: 'e.wav', seconds: 1.3, sampleRate: 8_000 },
  },
];

/** A short video with sound that outlasts its pictures; for cut_off the sound is shorter. */
const plain = (engine: Engine, mode: SyncMode): Case => ({
  what: 'twelve pictures',
  engine,
  mode,
  video: { frames: 12 },
  sound: { file: 'plain.wav', seconds: mode === 'cut_off' ? 0.4 : 0.96, sampleRate: 16_000 },
});

/** Whole renders, analysis included, of every engine in every mode: forwards, backwards, held, skipped and repeated. */
const CASES = ENGINES.flatMap((engine) =>
  SYNC_MODES.map(
    (mode) =>
      UNUSUAL.find((unusual) => unusual.engine === engine && unusual.mode === mode) ?? plain(engine, mode),
  ),
);

describe('a whole render', () => {
  const at = testFolder();
  let inference: Inference;

  beforeAll(async () => {
    await buildBuiltinPacks(at('packs'));
    inference = await startInference({ packsDir: at('packs'), entry: COMPILED_CHILD });
  }, 60_000);
  afterAll(() => inference.close());

  async function makeVideo({ turned, ...options }: Case['video']): Promise<string> {
    const filters = options.filters === undefined ? FACE : `${FACE},${options.filters}`;
    const video = { ...options, ...SIZE, filters };
    await (turned === undefined
      ? makeNumberedVideo(at('video.mp4'), video)
      : makeTurnedVideo(at('video.mp4'), turned, video));
    return at('video.mp4');
  }

  async function makeSound({ file, late, ...options }: Case['sound']): Promise<string> {
    const clicks = clicksIn(options.seconds);
    if (late === undefined) await makeClickTrain(at(file), { ...options, clicks });
    else {
      await makeClickTrain(at('punctual.m4a'), { ...options, clicks });
      const lateSound = ['-itsoffset', String(late), '-i', at('punctual.m4a')];
      await ffmpeg([
        '-i',
        at('video.mp4'),
        ...lateSound,
        '-map',
        '0:v',
        '-map',
        '1:a',
        '-c',
        'copy',
        at(file),
      ]);
    }
    return at(file);
  }

  test.each(CASES)(
    'with $engine of $what in $mode shows the right picture in every frame, in time with the sound',
    async ({ engine, mode, video, sound }) => {
      const videoPath = await makeVideo(video);
      const audioPath = await makeSound(sound);
      const outputPath = at('out.mp4');
      const result = await inference.render({ engine, videoPath, audioPath, outputPath, syncMode: mode });

      const { sources, clock } = timelineOf(mode, clockOf(video), result.inputAudioSeconds);
      expect(await frameNumbers(outputPath, SIZE)).toEqual(sources);
      expect(result.renderedFrames).toBe(sources.length);
      const { pictures, sound: heard } = await mediaTiming(outputPath);
      const [late = NaN] = pictures.starts
        .map((start, frame) => Math.abs(start - secondsAt(clock, frame)))
        .sort((a, b) => b - a);
      expect(late).toBeLessThan(1e-3);
      const frameSeconds = usualStep(clock) / clock.timescale;
      // A copied packet may be longer than a frame, and begin one earlier than the sound.
      const packetSeconds = Math.max(frameSeconds, 1024 / sound.sampleRate);
      expect(Math.abs(heard.end - pictures.end)).toBeLessThan(packetSeconds + 1e-6);
      const found = await findClicks(outputPath);
      expect(found).toHaveLength(clicksIn(sound.seconds).length);
      for (const [i, click] of clicksIn(sound.seconds).entries())
        expect(Math.abs((found[i] ?? Infinity) - click)).toBeLessThan(packetSeconds + 2e-3);
    },
    60_000,
  );
});
