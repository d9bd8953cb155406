import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { writePassthroughPack } from '@lipsync/engines/test';
import { type Inference, startInference } from '@lipsync/gpu-worker';
import { machine, PACKS_DIR, runProgram, treeResidentBytes } from '@lipsync/local-stack';
import { type Binaries, resolveBinaries } from '@lipsync/media';
import { Command } from 'commander';
import { parseFps } from './pack-bench';
import { prepareClip, renderClip } from './pipeline/clip';
import { benchStages, type StageFigures } from './pipeline/stages';
import { benchTranscode, type TranscodeFigures } from './pipeline/transcode';

/** `npm run bench:pipeline [-- RUNS]`: prints one JSON object, and its progress to the error output. */
const program = new Command('bench:pipeline')
  .description(
    'Wall time of decoding to encoding without networks, beside a plain transcode and the busiest stage; peak memory by length.',
  )
  .argument('[runs]', 'rounds of each measurement; five take over ten minutes on two cores', Number, 5)
  .option('--fps <n>', 'frames per second of the clips', parseFps, 25)
  .action(async (runs: number, { fps }: { fps: number }) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    const figures = await benchPipeline(binaries, runs, fps);
    console.log(JSON.stringify({ machine: machine(), fps, ...figures }, null, 2));
  });

interface PipelineFigures {
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

const say = (line: string): void => console.error(`bench:pipeline: ${line}`);

async function benchPipeline(binaries: Binaries, runs: number, fps: number): Promise<PipelineFigures> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-pipeline-'));
  const { ffmpeg } = binaries;
  const bench = { binaries, cores: availableParallelism(), folder, runs, say };
  try {
    const passthrough = path.join(folder, 'packs');
    await writePassthroughPack(path.join(passthrough, 'passthrough'));
    await symlink(path.join(PACKS_DIR, 'analyzer'), path.join(passthrough, 'analyzer'));
    const around: TranscodeFigures[] = [];
    for (const shape of [
      { ...HD, grain: CAMERA_GRAIN },
      { ...FULL_HD, grain: CAMERA_GRAIN },
      { ...HD, grain: MESSENGER_GRAIN },
    ]) {
      say(`${shape.height}p without networks, grain ${shape.grain}`);
      const figures = await withWarmInference(bench, passthrough, async (inference) => {
        const clip = await prepareClip(ffmpeg, folder, inference, { ...shape, fps, seconds: SECONDS });
        return benchTranscode({ ...bench, inference }, clip);
      });
      say(`  ${figures.times_transcode.toFixed(3)} of a transcode`);
      around.push(figures);
    }
    say('720p with the built-in networks');
    const stages = await withWarmInference(bench, PACKS_DIR, async (inference) => {
      const shape = { ...HD, grain: CAMERA_GRAIN, fps, seconds: SECONDS };
      return benchStages({ ...bench, inference }, await prepareClip(ffmpeg, folder, inference, shape));
    });
    say(`  ${stages.times_busiest_stage.toFixed(3)} of the busiest stage, ${stages.busiest_stage}`);
    const memory = await benchMemory(ffmpeg, folder, fps);
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
  return withInference(packsDir, async (inference) => {
    const short = await prepareClip(ffmpeg, folder, inference, {
      ...HD,
      grain: MESSENGER_GRAIN,
      fps: 25,
      seconds: 2,
    });
    await renderClip(inference, short, path.join(folder, 'warm-up.mp4'));
    return use(inference);
  });
}

interface MemoryFigures {
  picture: string;
  /** Peak resident memory of this process (which acts as the supervisor), of the inference process and of ffmpeg. */
  peak_mib: Record<string, number>;
  /** Peak of the longest clip divided by that of the shortest. */
  longest_over_shortest: number;
}

/** Peak memory for several clip lengths, each rendered by a new process. */
async function benchMemory(ffmpeg: string, folder: string, fps: number): Promise<MemoryFigures> {
  const peaks: [seconds: number, mib: number][] = [];
  for (const seconds of MEMORY_SECONDS) {
    say(`peak memory of a clip of ${seconds} s`);
    const clip = await withInference(PACKS_DIR, (inference) =>
      prepareClip(ffmpeg, folder, inference, { ...HD, grain: MESSENGER_GRAIN, fps, seconds }),
    );
    const peakBytes = await withInference(PACKS_DIR, (inference) =>
      peakMemoryDuring(renderClip(inference, clip, path.join(folder, 'memory.mp4'))),
    );
    peaks.push([seconds, peakBytes / 2 ** 20]);
  }
  const mib = peaks.map(([, value]) => value);
  return {
    picture: `${HD.width}x${HD.height}`,
    peak_mib: Object.fromEntries(peaks.map(([seconds, value]) => [`${seconds}s`, value])),
    longest_over_shortest: (mib[mib.length - 1] ?? NaN) / (mib[0] ?? NaN),
  };
}

async function withInference<T>(packsDir: string, use: (inference: Inference) => Promise<T>): Promise<T> {
  const inference = await startInference({ packsDir });
  try {
    return await use(inference);
  } finally {
    inference.close();
  }
}

const EVERY_MS = 100;

/** The peak resident memory, in bytes, of this process and all its descendants until `work` ends. */
async function peakMemoryDuring(work: Promise<unknown>): Promise<number> {
  let peakBytes = 0;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, treeResidentBytes(process.pid));
  }, EVERY_MS);
  try {
    await work;
    return peakBytes;
  } finally {
    clearInterval(timer);
  }
}

runProgram(program);
