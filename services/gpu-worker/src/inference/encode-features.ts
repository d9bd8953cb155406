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

/** One engine at work. */
interface Encoding {
  readonly name: Engine;
  readonly features: FeatureFile;
  readonly encoder: FaceEncoder;
  readonly release: () => Promise<void>;
}

/**
 * Computes what these engines keep of a video and do not know yet, in one pass over it. Returns how many frames were
 * added for each engine; 0 for one that keeps nothing.
 */
export async function encodeFeatures(
  wanted: FeaturesOfVideo,
  job: Job,
): Promise<Partial<Record<Engine, number>>> {
  const { track, video, videoPath, settledFrames } = wanted;
  const { binaries, clock, signal } = job;
  const added: Partial<Record<Engine, number>> = {};
  const encodings: Encoding[] = [];
  try {
    for (const task of wanted.engines) {
      added[task.engine] = 0;
      const encoding = await openEncoding(task, wanted, job);
      if (encoding) encodings.push(encoding);
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
          onFrame: (done) => wanted.onProgress(done / frames),
          signal,
          deadlineMs: MEDIA_DEADLINE_MS,
        }),
      );
      clock.sampleMemory();
    }
    for (const { name, features } of encodings) added[name] = features.added();
    wanted.onProgress(1);
    return added;
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
  const { engine, release } = await models.encoder(task.engine, task.packDir);
  if (!isWorthKeeping(engine.features)) return null;
  const features = openFeatures(task.featuresPath, engine.features, track);
  const encoder = engine.openEncoder({ track, format: pictureFormat(video), features });
  return { name: task.engine, features, encoder, release };
}
