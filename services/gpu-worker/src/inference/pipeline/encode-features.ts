import { type Engine } from '@lipsync/contract';
import { type FaceEncoder, type FaceTrack, isWorthKeeping } from '@lipsync/engines';
import { outputFormat, type VideoStream } from '@lipsync/media';
import { type FeaturesTask } from '../../protocol/messages';
import { type Job } from '../job';
import { openFrames, pictureFormat } from '../local-media';
import { isGraphFailure, isOutOfMemory, taskFailure } from '../task-failure';
import { type FeatureFile, openFeatures } from './feature-file';
import { readAhead } from './frame-buffers';

interface FeaturesOfVideo {
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
  /** Frames added, for each engine that saw the whole video; 0 for one that caches nothing. */
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
 * Computes the features that these engines cache of a video and do not have yet, in one pass over it. One engine's
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
  const { engines, videoPath, video, track, settledFrames, onProgress } = wanted;
  const { clock, signal } = job;
  const encodings: Encoding[] = [];
  try {
    for (const task of engines) {
      try {
        const encoding = await openEncoding(task, wanted, job);
        if (encoding) encodings.push(encoding);
        else added.set(task.engine, 0);
      } catch (error) {
        signal.throwIfAborted();
        failures.set(task.engine, error);
      }
    }
    const encoders = encodings.map(({ encoder }) => encoder);
    const frames = framesToEncode(settledFrames, encoders);
    if (frames > 0) {
      await clock.during('features', async () => {
        const numbers = Array.from({ length: frames }, (_, frame) => frame);
        const reader = openFrames(videoPath, video, track, numbers, job);
        const onFrame = (done: number): void => onProgress(done / frames);
        try {
          await encodeFrames(readAhead(reader), encodings, { failures, onFrame, signal });
        } finally {
          await reader.close();
        }
      });
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
  { models, binaries }: Job,
): Promise<Encoding | null> {
  const { model: engine, release } = await models.encoder(task.engine, task.pack);
  if (!isWorthKeeping(engine.features)) return null;
  const features = openFeatures(task.featuresPath, engine.features, track);
  try {
    const format = pictureFormat(video, outputFormat(video, binaries.output));
    const encoder = engine.openEncoder({ track, format, features });
    return { name: task.engine, features, encoder, release };
  } catch (error) {
    features.close();
    throw error;
  }
}

interface EncodingPass {
  /** Collects the errors of encoders that fail: they get no further frames, while the others continue. */
  readonly failures: Map<Engine, unknown>;
  /** Called after every frame with the number of frames done. */
  readonly onFrame: (framesDone: number) => void;
  /** Checked after every frame. */
  readonly signal: AbortSignal;
}

/**
 * Feeds every frame to all encoders for as long as at least one works; each frame may be reused once the next one is
 * requested. Rejects when the frames do, and with the signal's reason.
 */
export async function encodeFrames(
  frames: AsyncIterable<Uint8Array>,
  encodings: readonly Pick<Encoding, 'name' | 'encoder'>[],
  { failures, onFrame, signal }: EncodingPass,
): Promise<void> {
  const working = new Set(encodings);
  const step = async (work: (encoder: FaceEncoder) => Promise<void>): Promise<void> => {
    // In sequence: the graphs run on one thread anyway.
    for (const encoding of working) {
      try {
        await work(encoding.encoder);
      } catch (error) {
        // Whatever a stopped task fails with is not the encoder's fault.
        signal.throwIfAborted();
        working.delete(encoding);
        failures.set(encoding.name, error);
      }
    }
  };
  let index = 0;
  for await (const frame of frames) {
    await step((encoder) => encoder.add(frame, index));
    signal.throwIfAborted();
    if (working.size === 0) return;
    onFrame(++index);
  }
  await step((encoder) => encoder.flush());
}

/** Number of frames from the start up to the last one that one of these encoders lacks. */
export function framesToEncode(
  settledFrames: number,
  encoders: readonly Pick<FaceEncoder, 'lacks'>[],
): number {
  for (let frame = settledFrames - 1; frame >= 0; frame--)
    if (encoders.some((encoder) => encoder.lacks(frame))) return frame + 1;
  return 0;
}
