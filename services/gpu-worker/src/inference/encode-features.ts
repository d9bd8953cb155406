import { type Engine } from '@lipsync/contract';
import { type FaceTrack } from '@lipsync/lipsync';
import { type VideoStream } from '@lipsync/media';
import { type FaceEncoder } from './engines/engine';
import { type Job, MEDIA_DEADLINE_MS } from './job';
import { encodePass, framesToEncode } from './pipeline/encode-pass';
import { type FeatureFile, isWorthKeeping } from './pipeline/feature-file';
import { pictureFormat } from './pipeline/picture-format';
import { type FeaturesTask } from './protocol';
import { openFeatures } from './stored-features';
import { taskFailure } from './task-failure';

export interface FeaturesOfVideo {
  readonly engines: readonly FeaturesTask[];
  readonly videoPath: string;
  readonly video: VideoStream;
  readonly track: FaceTrack;
  /** Rows of the track that features may be computed from. */
  readonly settledFrames: number;
  /** Called with the part of the work that is done, 0 to 1. */
  readonly onProgress: (part: number) => void;
}

/** What became of the engines that were asked for. */
export interface EncodedFeatures {
  /** Frames that were added, of engines that saw the whole video; 0 for one that keeps nothing. */
  readonly added: Partial<Record<Engine, number>>;
  /** Why the other engines did not get to the end, for the log. */
  readonly failed: Partial<Record<Engine, string>>;
}

/** One engine at work. */
interface Encoding {
  readonly name: Engine;
  readonly features: FeatureFile;
  readonly encoder: FaceEncoder;
  readonly release: () => Promise<void>;
}

/**
 * Computes what these engines keep of a video and do not know yet, in one pass over it. An engine that fails takes none
 * of the others along: only a video that cannot be decoded ends the pass for all.
 */
export async function encodeFeatures(wanted: FeaturesOfVideo, job: Job): Promise<EncodedFeatures> {
  const { track, video, videoPath, settledFrames } = wanted;
  const { binaries, clock, signal } = job;
  const added: Partial<Record<Engine, number>> = {};
  const failed: Partial<Record<Engine, string>> = {};
  const encodings: Encoding[] = [];
  const fail = (name: Engine, error: unknown): void => {
    const { code, detail } = taskFailure(error);
    failed[name] = `${code}: ${detail}`;
  };
  try {
    for (const task of wanted.engines) {
      try {
        const encoding = await openEncoding(task, wanted, job);
        if (encoding) encodings.push(encoding);
        else added[task.engine] = 0;
      } catch (error) {
        signal.throwIfAborted();
        fail(task.engine, error);
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
            for (const { name, encoder } of encodings) if (encoder === failing) fail(name, error);
          },
          onFrame: (done) => wanted.onProgress(done / frames),
          signal,
          deadlineMs: MEDIA_DEADLINE_MS,
        }),
      );
      clock.sampleMemory();
    }
    for (const { name, features } of encodings) {
      if (failed[name] === undefined) added[name] = features.added();
    }
    wanted.onProgress(1);
    return { added, failed };
  } finally {
    for (const { features, release } of encodings) {
      features.close();
      await release();
    }
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
