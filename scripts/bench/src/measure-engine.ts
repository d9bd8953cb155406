import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type RenderResult, startInference } from '@lipsync/gpu-worker';
import { type Clip } from '@lipsync/models';
import { type GpuMemory, watchGpuMemory } from './graphics-card';
import { type EngineManifest } from './pack-bench';

export interface EngineFigures {
  readonly engine: Engine;
  readonly pack: string;
  /**
   * Sampling steps, each of which guidance and windows multiply into several calls of the network; undefined for
   * one-step engines.
   */
  readonly steps: number | undefined;
  readonly rendered_frames: number;
  /** Loading the graphs. */
  readonly load_seconds: number;
  /** The render after that, in which a device compiles or chooses its kernels. */
  readonly first_render_seconds: number;
  /** The same render once more. All figures below are of this one. */
  readonly second_render_seconds: number;
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

/**
 * Renders the clip twice with the engine's pack in `packsDir` (see `isolatePack`), in a process of its own. Rejects when
 * the pack cannot be loaded or a render fails.
 */
export async function measureEngine(
  packsDir: string,
  manifest: EngineManifest,
  clip: Clip,
): Promise<EngineFigures> {
  const { engine } = manifest;
  const trackPath = path.join(packsDir, 'track.bin');
  const inference = await startInference({ packsDir });
  const stopWatching = watchGpuMemory(() => inference.pid());
  try {
    await inference.analyze({ videoPath: clip.videoFile, trackPath });
    const render = (): Promise<RenderResult> =>
      inference.render({
        engine,
        videoPath: clip.videoFile,
        audioPath: clip.audioFile,
        outputPath: path.join(packsDir, 'output.mp4'),
        syncMode: 'cut_off',
        faceTrackPath: trackPath,
      });
    // The first render loads the graphs, which are then loaded for the second, as in a worker between two jobs.
    const { timings: first } = await render();
    const { renderedFrames, gpuInferenceMs, tensorBytes, timings, replacedCodecs } = await render();
    return {
      engine,
      pack: `${manifest.name}@${manifest.version}`,
      steps: stepsOf(manifest),
      rendered_frames: renderedFrames,
      load_seconds: first.loadMs / 1000,
      first_render_seconds: (first.totalMs - first.loadMs) / 1000,
      second_render_seconds: timings.totalMs / 1000,
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
    inference.close();
    await stopWatching();
  }
}

export function stepsOf(manifest: EngineManifest): number | undefined {
  if (manifest.engine === 'musetalk') return undefined;
  const { steps } = manifest.params.schedule;
  return typeof steps === 'number' ? steps : steps.length;
}
