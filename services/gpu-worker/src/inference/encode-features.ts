import { type FeaturesTask } from '../protocol/messages';
import { type Job, MEDIA_DEADLINE_MS } from './job';
import { encodePass, framesToEncode } from './pipeline/encode-pass';
import { type FeatureFile } from './pipeline/feature-file';
import { pictureFormat } from './pipeline/picture-format';
import { isGraphFailure, isOutOfMemory, taskFailure } from './pipeline/task-failure';
import { openFeatures } from './stored-features';
import { type Engine } from '@lipsync/contract';
import { type FaceTrack, isWorthKeeping, type FaceEncoder } from '@lipsync/engines';
import { type VideoStream } from '@lipsync/media';

export interface FeaturesOfVideo {
  readonly engines: readonly FeaturesTask[];
  readonly videoPath: string;
  readonly video: VideoStream;
  readonly track: FaceTrack;
  /** Number of leading rows of the track that features may be computed from. */
  readonly settledFrames: number;
  /** Called with the part of the work that is done, 0 to 1. */
  readonly onProgress: (part: number) => void;
}

/** The outcome for each requested engine. */
export interface EncodedFeatures {
  /** Frames added, for each engine that saw the whole video; 0 for one that keeps nothing. */
  readonly added: Partial<Record<Engine, number>>;
  /** Why the other engines did not reach the end, for the log. */
  readonly failed: Partial<Record<Engine, string>>;
  /** Whether a graph is among the reasons. */
  readonly graphFailed: boolean;
}

/** One engine's encoder in progress. */
interface Encoding {
  readonly name: Engine;
  readonly features: FeatureFile;
  readonly encoder: FaceEncoder;
  readonly release: () => Promise<void>;
}

/** Results collected engine by engine, over both passes. */
interface Outcome {
  readonly added: Map<Engine, number>;
  readonly failures: Map<Engine, unknown>;
}

/**
 * Computes the features that these engines keep of a video and do not have yet, in one pass over it. One engine's
 * failure does not affect the others; only a video that cannot be decoded ends the pass for all. Engines that ran out
 * of memory resume where they stopped in a second pass, after everything else that is loaded has been released.
 */
export async function encodeFeatures(wanted: FeaturesOfVideo, job: Job): Promise<EncodedFeatures> {
  const added = new Map<Engine, number>();
  const failures = new Map<Engine, unknown>();
  await encodeAll(wanted, job, { added, failures });
  const short = wanted.engines.filter(({ engine }) => isOutOfMemory(failures.get(engine)));
  if (short.length > 0) {
    await job.models.releaseEngines();
    for (const { engine } of short) failures.delete(engine);
    await encodeAll({ ...wanted, engines: short }, job, { added, failures });
  }
  wanted.onProgress(1);
  const reasonOf = (error: unknown): string => {
    const { code, detail } = taskFailure(error);
    return `${code}: ${detail}`;
  };
  return {
    added: Object.fromEntries([...added].filter(([name]) => !failures.has(name))),
    failed: Object.fromEntries([...failures].map(([name, error]) => [name, reasonOf(error)])),
    graphFailed: [...failures.values()].some(isGraphFailure),
  };
}

async function encodeAll(wanted: FeaturesOfVideo, job: Job, { added, failures }: Outcome): Promise<void> {
  const { track, video, videoPath, settledFrames } = wanted;
  const { binaries, clock, signal } = job;
  const encodings: Encoding[] = [];
  try {
    for (const task of wanted.engines) {
      try {
        const encoding = await openEncoding(task, wanted, job);
        if (encoding) encodings.push(encoding);
        else added.set(task.engine, 0);
      } catch (error) {
        signal.throwIfAborted();
        failures.set(task.engine, error);
      }
    }
    const files = encodings.map(({ features }) => features);
    const frames = framesToEncode(track, settledFrames, files);
    if (frames > 0) {
      await clock.during('features', () =>
        encodePass({
          binaries,
          videoPath,
          video,
          frames,
          encoders: encodings.map(({ encoder }) => encoder),
          onFailure: (failing, error) => {
            for (const { name, encoder } of encodings) if (encoder === failing) failures.set(name, error);
          },
          onFrame: (done) => wanted.onProgress(done / frames),
          signal,
          deadlineMs: MEDIA_DEADLINE_MS,
        }),
      );
      clock.sampleMemory();
    }
    for (const { name, features } of encodings) added.set(name, (added.get(name) ?? 0) + features.added());
  } finally {
    // Close the files first: a release may fail, and must not keep the others from closing theirs.
    for (const { features } of encodings) features.close();
    await Promise.all(encodings.map(({ release }) => release()));
  }
}

async function openEncoding(
  task: FeaturesTask,
  { track, video }: FeaturesOfVideo,
  { models }: Job,
): Promise<Encoding | null> {
  const { engine, release } = await models.encoder(task.engine, task.pack);
  if (!isWorthKeeping(engine.features)) return null;
  const features = openFeatures(task.featuresPath, engine.features, track);
  try {
    const encoder = engine.openEncoder({ track, format: pictureFormat(video), features });
    return { name: task.engine, features, encoder, release };
  } catch (error) {
    features.close();
    throw error;
  }
}
