import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { checkPack, openPackFolders, startInference, type RenderResult } from '@lipsync/gpu-worker';
import { type Manifest, type Pack } from '@lipsync/model-pack';
import { isolatePack } from '../models/isolate-pack';
import { servingAnalyzer } from '../models/serving-analyzer';
import { type NetworkSize } from './full-size/networks';
import { writeUntrainedLatentsync, writeUntrainedMusetalk } from './full-size/untrained-pack';
import { makeClip, type Clip } from '../samples/sample-clip';

export interface EngineFigures {
  engine: Engine;
  pack: string;
  provider: string | undefined;
  /** Calls of the network per frame that guidance and windows multiply; absent for one-step engines. */
  steps?: number;
  rendered_frames: number;
  /** Frames per second of the graphs alone, and of the whole render with a face track at hand. */
  inference_fps: number;
  render_fps: number;
  /** Seconds of GPU; null when the graphs ran on the CPU. */
  gpu_seconds: number | null;
  peak_rss_mib: number;
}

/** The number of steps that the official diffusion packs are published with. */
const PUBLISHED_STEPS = 20;
const CLIP = { width: 1280, height: 720, grain: 4 };

export interface EnginesToBench {
  /** Holds the face analyser, and the packs if no others are asked for. */
  readonly packsDir: string;
  /** Length of the clip. */
  readonly seconds: number;
  /** Only this one. */
  readonly engine?: string;
  /** Measures packs of this size whose networks have learned nothing, in place of those under `packsDir`. */
  readonly untrained?: NetworkSize;
}

/**
 * Renders one 720p clip with every engine pack under `packsDir`, each in a process of its own; diffusion packs also at
 * the published number of steps.
 */
export async function benchEngines(
  ffmpeg: string,
  { packsDir, seconds, engine, untrained }: EnginesToBench,
): Promise<EngineFigures[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-engines-'));
  try {
    const folders = (await openPackFolders(packsDir)).packs;
    const analyzerDir = servingAnalyzer(folders, packsDir).dir;
    const installed = folders
      .map(({ pack }) => pack)
      .filter(({ manifest }) => engine === undefined || manifest.engine === engine);
    const clip = await makeClip(ffmpeg, folder, { ...CLIP, seconds });
    const figures: EngineFigures[] = [];
    for await (const pack of untrained ? untrainedPacks(folder, untrained, installed) : installed) {
      for (const manifest of variants(pack)) {
        const own = await mkdtemp(path.join(folder, 'packs-'));
        const { provider } = await checkPack(await isolatePack(own, { pack, manifest, analyzerDir }));
        figures.push({ ...(await benchOne(own, manifest, clip)), provider });
      }
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** One after the other, because of their size: of the engines of these packs that can be written. */
async function* untrainedPacks(
  folder: string,
  size: NetworkSize,
  packs: readonly Pack[],
): AsyncGenerator<Pack> {
  for (const { manifest } of packs) {
    const dir = await mkdtemp(path.join(folder, 'untrained-'));
    if (manifest.engine === 'musetalk') yield await writeUntrainedMusetalk(dir, size);
    if (manifest.engine === 'latentsync') yield await writeUntrainedLatentsync(dir, size, manifest.params);
    await rm(dir, { recursive: true });
  }
}

type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

function variants({ manifest }: Pack): EngineManifest[] {
  switch (manifest.engine) {
    case 'analyzer':
      return [];
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
    // The first render loads the graphs; what is measured has them at hand, as a worker between two jobs does.
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
