import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { checkPack, type RenderResult, startInference } from '@lipsync/gpu-worker';
import { runProgram } from '@lipsync/local-stack';
import { type Clip, isolatePack } from '@lipsync/models';
import { type EngineManifest, packBench, type PackToBench } from './pack-bench';

interface EngineFigures {
  engine: Engine;
  pack: string;
  /**
   * Sampling steps, each of which guidance and windows multiply into several calls of the network; undefined for
   * one-step engines.
   */
  steps: number | undefined;
  rendered_frames: number;
  /** Frames per second of the graphs alone, and of the whole render with an existing face track. */
  inference_fps: number;
  render_fps: number;
  /** Seconds of GPU time; null when the graphs ran on the CPU. */
  gpu_seconds: number | null;
  peak_rss_mib: number;
  provider: string | undefined;
}

/** The number of steps that the official diffusion packs are published with. */
const PUBLISHED_STEPS = 20;

/** `npm run bench:engines` */
runProgram(
  packBench(
    {
      name: 'bench:engines',
      description:
        'Frames per second of every engine pack, diffusion packs also at the published number of steps.',
      key: 'engines',
    },
    benchEngine,
  ),
);

/** Each variant of a pack renders the clip in a process of its own. */
async function* benchEngine({ pack, analyzerDir, clip, folder }: PackToBench): AsyncGenerator<EngineFigures> {
  for (const manifest of variants(pack.manifest)) {
    const own = await mkdtemp(path.join(folder, 'packs-'));
    const { provider } = await checkPack(await isolatePack(own, { pack, manifest, analyzerDir }));
    yield { ...(await benchVariant(own, manifest, clip)), provider };
  }
}

function variants(manifest: EngineManifest): EngineManifest[] {
  if (manifest.engine === 'musetalk' || stepsOf(manifest) === PUBLISHED_STEPS) return [manifest];
  const published = structuredClone(manifest);
  published.params.schedule.steps = PUBLISHED_STEPS;
  return [manifest, published];
}

function stepsOf(manifest: EngineManifest): number | undefined {
  if (manifest.engine === 'musetalk') return undefined;
  const { steps } = manifest.params.schedule;
  return typeof steps === 'number' ? steps : steps.length;
}

async function benchVariant(
  packsDir: string,
  manifest: EngineManifest,
  clip: Clip,
): Promise<Omit<EngineFigures, 'provider'>> {
  const { engine } = manifest;
  const trackPath = path.join(packsDir, 'track.bin');
  const inference = await startInference({ packsDir });
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
    // The first render loads the graphs, which are then loaded for the measurement, as in a worker between two jobs.
    await render();
    const { renderedFrames, gpuInferenceMs, timings } = await render();
    return {
      engine,
      pack: `${manifest.name}@${manifest.version}`,
      steps: stepsOf(manifest),
      rendered_frames: renderedFrames,
      inference_fps: (renderedFrames * 1000) / timings.inferMs,
      render_fps: (renderedFrames * 1000) / timings.totalMs,
      gpu_seconds: gpuInferenceMs === null ? null : gpuInferenceMs / 1000,
      peak_rss_mib: timings.peakRssBytes / 2 ** 20,
    };
  } finally {
    inference.close();
  }
}
