import { benchMemory, type MemoryFigures } from './bench-memory';
import { benchStages, type StageFigures } from './bench-stages';
import { benchTranscode, type TranscodeFigures } from './bench-transcode';
import { prepareClip } from './prepared-clip';
import { renderClip } from './render-clip';
import { writePassthroughPack } from '@lipsync/engines/test';
import { type Inference, startInference } from '@lipsync/gpu-worker';
import { type Binaries } from '@lipsync/media';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';

export interface PipelineFigures {
  /** With a pass-through pack, which has no networks. */
  around_the_networks: TranscodeFigures[];
  /** With the built-in networks. */
  with_the_networks: StageFigures;
  memory: MemoryFigures;
}

const SECONDS = 30;
/** Grain like a camera's: 7 to 8 Mb/s in 720p, and what remains of it at 1 Mb/s. */
const CAMERA_GRAIN = 5;
const MESSENGER_GRAIN = 4;
const HD = { width: 1280, height: 720 };
const FULL_HD = { width: 1920, height: 1080 };
const MEMORY_SECONDS = [10, 300];

export async function benchPipeline(
  binaries: Binaries,
  builtinPacksDir: string,
  runs: number,
): Promise<PipelineFigures> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-pipeline-'));
  const { ffmpeg } = binaries;
  const bench = { binaries, cores: availableParallelism(), folder, runs };
  try {
    const passthrough = path.join(folder, 'packs');
    await writePassthroughPack(path.join(passthrough, 'passthrough'));
    await symlink(path.join(builtinPacksDir, 'analyzer'), path.join(passthrough, 'analyzer'));
    const around: TranscodeFigures[] = [];
    for (const shape of [
      { ...HD, grain: CAMERA_GRAIN },
      { ...FULL_HD, grain: CAMERA_GRAIN },
      { ...HD, grain: MESSENGER_GRAIN },
    ]) {
      const figures = await withWarmInference(bench, passthrough, async (inference) => {
        const clip = await prepareClip(ffmpeg, folder, inference, { ...shape, seconds: SECONDS });
        return benchTranscode({ ...bench, inference }, clip);
      });
      around.push(figures);
    }
    const stages = await withWarmInference(bench, builtinPacksDir, async (inference) => {
      const shape = { ...HD, grain: CAMERA_GRAIN, seconds: SECONDS };
      return benchStages({ ...bench, inference }, await prepareClip(ffmpeg, folder, inference, shape));
    });
    const memory = await benchMemory(
      ffmpeg,
      folder,
      builtinPacksDir,
      { ...HD, grain: MESSENGER_GRAIN },
      MEMORY_SECONDS,
    );
    return { around_the_networks: around, with_the_networks: stages, memory };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Provides a process with loaded graphs and compiled code, like a worker's between two jobs. */
async function withWarmInference<T>(
  { binaries: { ffmpeg }, folder }: { readonly binaries: Binaries; readonly folder: string },
  packsDir: string,
  use: (inference: Inference) => Promise<T>,
): Promise<T> {
  const inference = await startInference({ packsDir });
  try {
    const short = await prepareClip(ffmpeg, folder, inference, { ...HD, grain: MESSENGER_GRAIN, seconds: 2 });
    await renderClip(inference, short, path.join(folder, 'warm-up.mp4'));
    return await use(inference);
  } finally {
    inference.close();
  }
}
