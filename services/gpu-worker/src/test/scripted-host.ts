import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type Engine, ENGINES } from '@lipsync/contract';
import { secondsAt, timelineOf } from '@lipsync/domain';
import { decodeFaceTrack, encodeFaceTrack, type FaceTrack, type FeatureLayout } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { type FoundPacks, type UsablePack } from '../host/find-packs';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { type InferenceHost, type TaskOptions } from '../host/inference-host';
import { secondsToSettle, settledFrames } from '../inference/analyzer/build-track';
import { openFeatures } from '../inference/pipeline/feature-file';
import { createStageClock } from '../inference/stage-clock';
import { type AnalyzeResult, type RenderResult } from '../protocol/messages';

/** The files that the assets of a fixture consist of. */
export interface Media {
  /** A video of 20 frames that shows no face. */
  readonly plain: Uint8Array;
  /** A video of 225 frames that shows a face in each. */
  readonly face: Uint8Array;
  /** Speech of 0.6 and of 30 seconds. */
  readonly short: Uint8Array;
  readonly long: Uint8Array;
}

/** Media for the scripted host, which cannot be played. */
export const SCRIPTED_MEDIA: Media = {
  plain: Buffer.from('no face'),
  face: Buffer.from('a face'),
  short: Buffer.from('0.6'),
  long: Buffer.from('endless'),
};

const SIZE = { width: 256, height: 256 };
const FACE_FRAMES = 225;
const FPS = 25;
const LAYOUT: FeatureLayout = { version: '1', values: 4 };

export const scriptedPack = (name: string, features?: FeatureLayout): UsablePack => ({
  dir: `/packs/${name}`,
  digest: name,
  version: `${name}@1.0.0`,
  bytes: 1,
  ...(features && { features }),
});

/** As verified: of the engines, highsync caches features. */
export const SCRIPTED_PACKS = {
  analyzer: scriptedPack('analyzer'),
  engines: new Map<Engine, UsablePack>(
    ENGINES.map((engine) => [engine, scriptedPack(engine, engine === 'highsync' ? LAYOUT : undefined)]),
  ),
  problems: [],
} satisfies FoundPacks;

const measured = () => ({
  detectorRuns: 0,
  replacedCodecs: [],
  gpuInferenceMs: null,
  graphFailed: false,
  timings: { ...createStageClock().timings(), inferMs: 1, encodeMs: 1 },
});

/** The result of a render; 0.6 s of speech unless changed. */
export const renderResult = (change: Partial<RenderResult> = {}): RenderResult => ({
  type: 'render',
  tensorBytes: { given: 0, received: 0 },
  inputAudioSeconds: 0.6,
  outputSeconds: 0.6,
  ...SIZE,
  renderedFrames: 15,
  featuresAdded: 0,
  quality: {
    syncCorrelation: 0.75,
    syncLagSeconds: 0.04,
    seamLevels: 2.5,
    skinPsnrDb: 38,
    facelessShare: 0.25,
    enlargedShare: 0,
    largestEnlargement: 0.8,
    sampledFrames: 75,
    problem: null,
  },
  ...measured(),
  ...change,
});

/**
 * A host without a process, for tests of what surrounds it. It sees faces in scripted media, keeps the protocol of
 * tracks and of files of features, and renders in no time; an endless speech until it is stopped. Packs whose name
 * begins with `broken` fail to compute features ahead. `analyses` counts the videos that were looked at;
 * `untilStopped` serves as a task that ends only when it is cancelled or killed.
 */
export function createScriptedHost() {
  const counts = { analyses: 0 };
  let killed = new AbortController();

  async function untilStopped({ signal }: TaskOptions): Promise<never> {
    const stop = AbortSignal.any([killed.signal, ...(signal ? [signal] : [])]);
    if (!stop.aborted) await once(stop, 'abort');
    if (signal?.aborted) throw new InferenceFailure('cancelled', 'stopped');
    throw new InferenceCrash({ code: null, signal: 'SIGKILL' }, '');
  }

  const host: InferenceHost = {
    async analyze({ videoPath, trackPath, wantedSeconds = Infinity, reuseTrack, engines = [] }) {
      const ahead = Math.ceil(secondsToSettle(wantedSeconds) * FPS);
      const complete = reuseTrack ?? ahead >= FACE_FRAMES;
      let track: FaceTrack;
      if (reuseTrack) track = decodeFaceTrack(await readFile(trackPath));
      else {
        counts.analyses++;
        if (!(await readFile(videoPath, 'latin1')).startsWith('a face'))
          throw new InferenceFailure('no_face_detected', 'no frame shows a face');
        const box = { x1: 60, y1: 60, x2: 190, y2: 200 };
        track = {
          ...syntheticTrack({ frames: Math.min(ahead, FACE_FRAMES), ...SIZE, box }),
          analyzerVersion: SCRIPTED_PACKS.analyzer.version,
        };
        await writeFile(trackPath, encodeFaceTrack(track));
      }
      const { frames } = track;
      const added: [Engine, number][] = [];
      const failed: [Engine, string][] = [];
      for (const { engine, pack, featuresPath } of engines) {
        if (pack.digest.startsWith('broken')) failed.push([engine, 'engine_failed: a broken pack']);
        else added.push([engine, addFeatures(featuresPath, track, [...track.found.keys()])]);
      }
      const result: AnalyzeResult = {
        type: 'analyze',
        frames,
        complete,
        settledSeconds: secondsAt(track.clock, complete ? frames : settledFrames(track.clock)),
        featuresAdded: Object.fromEntries(added),
        featuresFailed: Object.fromEntries(failed),
        ...measured(),
        detectorRuns: reuseTrack ? 0 : 1,
      };
      return result;
    },

    async render({ audioPath, outputPath, faceTrackPath, featuresPath, syncMode }, options = {}) {
      options.onProgress?.('inferencing', 10);
      const seconds = Number(await readFile(audioPath, 'latin1'));
      if (Number.isNaN(seconds)) return untilStopped(options);
      const track = decodeFaceTrack(await readFile(faceTrackPath));
      const { sources } = timelineOf(syncMode, track.clock, seconds);
      await writeFile(outputPath, 'a video');
      return renderResult({ featuresAdded: featuresPath ? addFeatures(featuresPath, track, sources) : 0 });
    },

    verify: () => Promise.reject(new Error('not scripted')),
    warm: () => Promise.reject(new Error('not scripted')),
    kill() {
      killed.abort();
      killed = new AbortController();
    },
    pid: () => undefined,
  };
  return { ...host, untilStopped, analyses: () => counts.analyses };
}

/** Adds what a file of features lacks of these frames; returns how many those were. */
function addFeatures(path: string, track: FaceTrack, sources: readonly number[]): number {
  const file = openFeatures(path, LAYOUT, track);
  for (const source of sources)
    if (!file.has(source)) file.write(source, new Float32Array(LAYOUT.values).fill(source), 0);
  file.close();
  return file.added();
}
