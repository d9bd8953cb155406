import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { checkPack, type RenderResult, startInference } from '@lipsync/gpu-worker';
import { machine } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { type Clip, isolatePack, makeClip } from '@lipsync/models';
import { Command } from 'commander';
import { type EngineManifest, type PacksToBench, packsToBench, withPacks } from './packs-to-bench';

/**
 * `npm run bench:engines`: prints one JSON object; each result is also printed to the error output as soon as it is
 * known.
 */
const program = withPacks(
  new Command('bench:engines').description(
    'Frames per second of every engine pack, diffusion packs also at the published number of steps.',
  ),
  async (packs) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    const engines = await benchEngines(ffmpeg, packs);
    console.log(JSON.stringify({ machine: machine(), engines }, null, 2));
  },
);

interface EngineFigures {
  engine: Engine;
  pack: string;
  provider: string | undefined;
  /**
   * Sampling steps, each of which guidance and windows multiply into several calls of the network; undefined for
   * one-step engines.
   */
  steps?: number;
  rendered_frames: number;
  /** Frames per second of the graphs alone, and of the whole render with an existing face track. */
  inference_fps: number;
  render_fps: number;
  /** Seconds of GPU time; null when the graphs ran on the CPU. */
  gpu_seconds: number | null;
  peak_rss_mib: number;
}

/** The number of steps that the official diffusion packs are published with. */
const PUBLISHED_STEPS = 20;
const CLIP = { width: 1280, height: 720, grain: 4 };

/**
 * Renders one 720p clip with every requested engine pack, each in a process of its own; diffusion packs also with the
 * published number of steps.
 */
async function benchEngines(ffmpeg: string, options: PacksToBench): Promise<EngineFigures[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-engines-'));
  try {
    const clip = await makeClip(ffmpeg, folder, { ...CLIP, seconds: options.seconds });
    const figures: EngineFigures[] = [];
    for (const { pack, analyzerDir } of await packsToBench(options)) {
      for (const variant of variants(pack.manifest)) {
        const own = await mkdtemp(path.join(folder, 'packs-'));
        const { provider } = await checkPack(
          await isolatePack(own, { pack, manifest: variant, analyzerDir }),
        );
        const figure = { ...(await benchOne(own, variant, clip)), provider };
        // Large networks take long: print each result at once, so that a later failure does not lose it.
        console.error(JSON.stringify(figure));
        figures.push(figure);
      }
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function variants(manifest: EngineManifest): EngineManifest[] {
  switch (manifest.engine) {
    case 'musetalk':
      return [manifest];
    case 'latentsync':
    case 'highsync': {
      const published = structuredClone(manifest);
      published.params.schedule.steps = PUBLISHED_STEPS;
      return stepsOf(manifest) === PUBLISHED_STEPS ? [manifest] : [manifest, published];
    }
  }
}

function stepsOf(manifest: EngineManifest): number | undefined {
  if (manifest.engine === 'musetalk') return undefined;
  const { steps } = manifest.params.schedule;
  return typeof steps === 'number' ? steps : steps.length;
}

async function benchOne(
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
    const steps = stepsOf(manifest);
    return {
      engine,
      pack: `${manifest.name}@${manifest.version}`,
      ...(steps === undefined ? {} : { steps }),
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

program.parseAsync().catch((error: unknown) => {
  console.error(`bench:engines: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
