import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type FrameFeatures, type LipSyncEngine, SessionError } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { resolveBinaries } from '@lipsync/media';
import { makeNumberedVideo } from '@lipsync/testkit';
import { type Job } from '../job';
import { videoOf } from '../local-media';
import { type Models } from '../models';
import { createStageClock } from '../stage-clock';
import { type EncodedFeatures, encodeFeatures } from './encode-features';
import { createKeptMouths } from './kept-mouths';

const FRAMES = 12;
const SIZE = { width: 192, height: 64 };
const track = syntheticTrack({ ...SIZE, frames: FRAMES, box: { x1: 10, y1: 5, x2: 60, y2: 60 } });
const unused = (): never => {
  throw new Error('a preparation asks for no such thing');
};

describe('precomputing features while memory is short', () => {
  let folder: string;
  let count = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'encode-features-'));
    await makeNumberedVideo(join(folder, 'video.mp4'), { ...SIZE, frames: FRAMES });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** How much of a device is in use, and which encoder ran on which frames. */
  interface Device {
    readonly models: Models;
    readonly runs: [Engine, number][];
    readonly events: string[];
    /** The stores that the encoders were given to write to. */
    readonly files: FrameFeatures[];
  }

  /** An encoder in `fails` fails from frame 5 on; musetalk's fails for as long as an engine is kept loaded. */
  function device({
    afterRelease,
    reason,
    onRelease = async () => undefined,
  }: {
    afterRelease: 'free' | 'full';
    reason: SessionError['reason'];
    onRelease?: (name: Engine) => Promise<void>;
  }): Device {
    const runs: [Engine, number][] = [];
    const events: string[] = [];
    const files: FrameFeatures[] = [];
    let isFull = true;
    const engineOf = (name: Engine): LipSyncEngine => ({
      features: { version: '1', values: 1 },
      wantsExemplars: false,
      open: unused,
      openEncoder: ({ features }) => {
        files.push(features);
        return {
          async add(_, source) {
            if (features.has(source)) return;
            runs.push([name, source]);
            if (name === 'musetalk' && source >= 5 && isFull) throw new SessionError(reason, 'no room');
            features.write(source, Float32Array.of(source), 0);
          },
          flush: async () => undefined,
          lacks: (source) => !features.has(source),
        };
      },
    });
    const models: Models = {
      analyzer: unused,
      engine: unused,
      detectorRuns: unused,
      async encoder(name) {
        events.push(`open ${name}`);
        const release = (): Promise<void> => {
          events.push(`release ${name}`);
          return onRelease(name);
        };
        return { model: engineOf(name), release };
      },
      async releaseEngines() {
        events.push('release engines');
        isFull = afterRelease === 'full';
      },
    };
    return { models, runs, events, files };
  }

  async function encode({ models }: Device): Promise<EncodedFeatures> {
    const binaries = await resolveBinaries(process.env);
    const signal = new AbortController().signal;
    const videoPath = join(folder, 'video.mp4');
    const none = () => 0;
    const job: Job = {
      binaries,
      models,
      keptMouths: createKeptMouths(),
      signal,
      clock: createStageClock(),
      inferMs: none,
      gpuInferenceMs: () => null,
      tensorBytes: () => ({ given: 0, received: 0 }),
      detectorRuns: none,
      replacedCodecs: () => [],
      progress: { loading: unused, preparing: unused, rendered: unused, encoding: unused },
    };
    const engines = (['musetalk', 'highsync'] as const).map((engine) => ({
      engine,
      pack: { dir: '/nowhere', digest: engine },
      featuresPath: join(folder, `${engine}-${count}`),
    }));
    count++;
    const video = await videoOf(videoPath, job);
    const wanted = { engines, videoPath, video, track, settledFrames: FRAMES, onProgress: () => undefined };
    return encodeFeatures(wanted, job);
  }

  test('resumes where it stopped once everything else is released, at no cost to the other engines', async () => {
    const short = device({ afterRelease: 'free', reason: 'out_of_memory' });
    expect(await encode(short)).toEqual({
      added: { musetalk: FRAMES, highsync: FRAMES },
      failed: {},
      graphFailed: false,
    });
    expect(short.events).toEqual([
      ...['open musetalk', 'open highsync', 'release musetalk', 'release highsync'],
      ...['release engines', 'open musetalk', 'release musetalk'],
    ]);
    const framesOf = (name: Engine) => short.runs.filter(([of]) => of === name).map(([, frame]) => frame);
    expect(framesOf('musetalk')).toEqual([0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11]);
    expect(framesOf('highsync')).toHaveLength(FRAMES);
  });

  test.each([
    ['gives up when memory stays short, after a second try', 'out_of_memory', 2, false],
    ['does not retry an engine that fails for another reason', 'run_failed', 1, true],
  ] as const)('%s', async (_, reason, tries, isGraphFault) => {
    const lasting = device({ afterRelease: 'full', reason });
    const { added, failed, graphFailed } = await encode(lasting);
    expect(added).toEqual({ highsync: FRAMES });
    expect(Object.keys(failed)).toEqual(['musetalk']);
    expect(graphFailed).toBe(isGraphFault);
    expect(lasting.events.filter((event) => event === 'open musetalk')).toHaveLength(tries);
    expect(lasting.events.filter((event) => event === 'release engines')).toHaveLength(tries - 1);
  });

  test('leaves no file open and no engine loaded when one of the engines cannot be released', async () => {
    const onRelease = (name: Engine): Promise<void> =>
      name === 'musetalk' ? Promise.reject(new Error('not released')) : Promise.resolve();
    const stuck = device({ afterRelease: 'free', reason: 'run_failed', onRelease });
    await expect(encode(stuck)).rejects.toThrow('not released');
    expect(stuck.events).toEqual(expect.arrayContaining(['release musetalk', 'release highsync']));
    expect(stuck.files).toHaveLength(2);
    for (const file of stuck.files) expect(() => file.write(0, Float32Array.of(1), 0)).toThrow('closed');
  });
});
