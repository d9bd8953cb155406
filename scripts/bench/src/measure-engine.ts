import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type RenderResult, type StageTimings, startInference } from '@lipsync/gpu-worker';
import { type Clip } from '@lipsync/models';
import { type GpuMemory, watchGpuMemory } from './gpu-memory';
import { type EngineManifest } from './pack-bench';

/** Seconds of the parts of a render or an analysis; they add up to `seconds`. See WallTime. */
export interface TimeSpent {
  readonly seconds: number;
  /** Share of it in which a graph ran. */
  readonly graph_share: number;
  readonly wall_seconds: Readonly<Record<string, number>>;
}

export interface EngineFigures {
  readonly engine: Engine;
  readonly pack: string;
  /**
   * Sampling steps, each of which guidance and windows multiply into several calls of the network; undefined for
   * one-step engines.
   */
  readonly steps: number | undefined;
  /** Loading the graphs. */
  readonly load_seconds: number;
  /** The render after that, in which a device compiles or chooses its kernels, and its frames. */
  readonly first_render_seconds: number;
  readonly first_rendered_frames: number;
  /** A render after that. All figures below are of this one. */
  readonly second_render_seconds: number;
  readonly rendered_frames: number;
  readonly second_render: TimeSpent;
  /** Frames per second of the graphs alone, and of the whole render with an existing face track. */
  readonly inference_fps: number;
  readonly render_fps: number;
  /** Seconds of GPU time; null when the graphs ran on the CPU. */
  readonly gpu_seconds: number | null;
  /** Size of the tensors that the graphs were given and gave; on a GPU they are copied to the device and back. */
  readonly bytes_given_per_frame: number;
  readonly bytes_received_per_frame: number;
  /** The codecs of a card that software had to replace, see `resolveVideoCodecs` for those that were to be used. */
  readonly replaced_codecs: readonly string[];
  readonly peak_rss_mib: number;
  /** Over loading and both renders; null without nvidia-smi. */
  readonly gpu_memory: GpuMemory | null;
}

interface Measurement {
  /** Holds the pack and the face analyzer, see `isolatePack`. */
  readonly packsDir: string;
  readonly manifest: EngineManifest;
  readonly clip: Clip;
  /** The clip's face track. */
  readonly trackPath: string;
  /** Speech of the first render, which needs not be as long as the clip. */
  readonly firstAudio?: string;
  /** Speech of the second one, given the frames per second of another render of the first one's speech, with kernels chosen. */
  readonly secondAudio?: (framesPerSecond: number) => Promise<string>;
  /** Called with the figures that are known after the first render. */
  readonly found?: (figures: object) => void;
  /** Aborted to give up: both renders end at once. */
  readonly signal?: AbortSignal;
}

/** Renders with the engine's pack until its speed is known, in a process of its own. Rejects when the pack cannot be loaded or a render fails. */
export async function measureEngine(measurement: Measurement): Promise<EngineFigures> {
  const { packsDir, manifest, clip, trackPath, found = () => undefined, signal } = measurement;
  const { firstAudio = clip.audioFile, secondAudio } = measurement;
  const { engine } = manifest;
  const inference = await startInference({ packsDir });
  const stopWatching = watchGpuMemory(() => inference.pid());
  const giveUp = (): void => inference.close();
  signal?.addEventListener('abort', giveUp);
  try {
    const render = async (audioPath: string): Promise<RenderResult> => {
      // A task starts another process if there is none.
      signal?.throwIfAborted();
      return inference.render({
        engine,
        videoPath: clip.videoFile,
        audioPath,
        outputPath: path.join(packsDir, 'output.mp4'),
        syncMode: 'cut_off',
        faceTrackPath: trackPath,
      });
    };
    // The first render loads the graphs, which are then loaded for the second, as in a worker between two jobs.
    const first = await render(firstAudio);
    // Engine and analyzer are loaded at the same time.
    const loadMs = first.timings.wall.load ?? 0;
    const firstSeconds = (first.timings.totalMs - loadMs) / 1000;
    const known = {
      engine,
      pack: `${manifest.name}@${manifest.version}`,
      steps: stepsOf(manifest),
      load_seconds: loadMs / 1000,
      first_render_seconds: firstSeconds,
      first_rendered_frames: first.renderedFrames,
    };
    found(known);
    // The device chose its kernels during the first render: the same once more tells how long a longer one takes.
    const audio =
      secondAudio === undefined ? clip.audioFile : await secondAudio(speedOf(await render(firstAudio)));
    const { renderedFrames, gpuInferenceMs, tensorBytes, timings, replacedCodecs } = await render(audio);
    return {
      ...known,
      second_render_seconds: timings.totalMs / 1000,
      rendered_frames: renderedFrames,
      second_render: timeSpent(timings),
      inference_fps: (renderedFrames * 1000) / timings.inferMs,
      render_fps: (renderedFrames * 1000) / timings.totalMs,
      gpu_seconds: gpuInferenceMs === null ? null : gpuInferenceMs / 1000,
      bytes_given_per_frame: tensorBytes.given / renderedFrames,
      bytes_received_per_frame: tensorBytes.received / renderedFrames,
      replaced_codecs: replacedCodecs,
      peak_rss_mib: timings.peakRssBytes / 2 ** 20,
      gpu_memory: await stopWatching(),
    };
  } finally {
    signal?.removeEventListener('abort', giveUp);
    inference.close();
    await stopWatching();
  }
}

/** Makes the face track of a clip, with the face analyzer in `packsDir`; resolves to what that took. */
export async function measureAnalysis(
  packsDir: string,
  clip: Clip,
  trackPath: string,
  signal?: AbortSignal,
): Promise<TimeSpent> {
  const inference = await startInference({ packsDir });
  const giveUp = (): void => inference.close();
  signal?.addEventListener('abort', giveUp);
  try {
    signal?.throwIfAborted();
    const { timings } = await inference.analyze({ videoPath: clip.videoFile, trackPath });
    return timeSpent(timings);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    inference.close();
  }
}

/** Frames per second. */
function speedOf({ renderedFrames, timings }: RenderResult): number {
  return (renderedFrames * 1000) / timings.totalMs;
}

function timeSpent({ totalMs, wall }: StageTimings): TimeSpent {
  const seconds = Object.entries(wall).map(([part, ms]) => [part, ms / 1000] as const);
  return {
    seconds: totalMs / 1000,
    graph_share: wall.graphs / totalMs,
    wall_seconds: Object.fromEntries(seconds),
  };
}

export function stepsOf(manifest: EngineManifest): number | undefined {
  if (manifest.engine === 'musetalk') return undefined;
  const { steps } = manifest.params.schedule;
  return typeof steps === 'number' ? steps : steps.length;
}
