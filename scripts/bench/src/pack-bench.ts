import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES } from '@lipsync/contract';
import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { type Manifest, type Pack } from '@lipsync/engines';
import { openPackFolders } from '@lipsync/gpu-worker';
import { DEFAULT_PACKS_DIR, machine } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { type Clip, makeClip, servingPack } from '@lipsync/models';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';

export type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

/** An engine's pack, the face analyzer that goes with it (see `isolatePack`), and a 720p clip to render. */
export interface PackToBench {
  readonly pack: Pack<EngineManifest>;
  readonly analyzerDir: string;
  readonly clip: Clip;
  /** For files of the measurement. */
  readonly folder: string;
}

export const CLIP_SHAPE = { width: 1280, height: 720, grain: 4 };

interface Options {
  /** Restricts the bench to this engine's packs. */
  readonly engine?: Engine;
  /** Length of the clip. */
  readonly seconds: number;
  /** Its frames per second. */
  readonly fps: number;
}

/**
 * A command with `[PACKS_DIR] [--engine ENGINE] [--seconds N]` that measures the packs of a folder and prints one JSON
 * object, with the figures under `key`. Each figure is also printed to the error output at once: large networks take
 * long, and a later failure must not lose it.
 */
export function packBench<Figures>(
  { name, description, key }: { name: string; description: string; key: string },
  measure: (packToBench: PackToBench) => AsyncIterable<Figures>,
): Command {
  return new Command(name)
    .description(description)
    .addArgument(new Argument('[packs-dir]', 'the packs to measure').default(DEFAULT_PACKS_DIR))
    .addOption(new Option('--engine <name>', "only this engine's packs").choices(ENGINES))
    .option('--seconds <n>', 'length of the clip', parseSeconds, 6)
    .option('--fps <n>', 'its frames per second', parseFps, 25)
    .action(async (packsDir: string, options: Options) => {
      const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
      const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
      const { seconds, fps } = options;
      const folder = await mkdtemp(path.join(tmpdir(), 'bench-packs-'));
      try {
        const { wanted } = await packsIn(path.resolve(packsDir), options);
        const clip = await makeClip(ffmpeg, folder, { ...CLIP_SHAPE, seconds, fps });
        const figures: Figures[] = [];
        for (const pack of wanted)
          for await (const figure of measure({ ...pack, clip, folder })) {
            console.error(JSON.stringify(figure));
            figures.push(figure);
          }
        console.log(JSON.stringify({ machine: machine(), fps, [key]: figures }, null, 2));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}

const LEAST_SECONDS = 0.04;
const MOST_FPS = 60;

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= LEAST_SECONDS && seconds <= MEDIA_MAX_SECONDS))
    throw new InvalidArgumentError(`It must be from ${LEAST_SECONDS} to ${MEDIA_MAX_SECONDS}.`);
  return seconds;
}

export function parseFps(text: string): number {
  const fps = Number(text);
  if (!(fps >= 1 && fps <= MOST_FPS)) throw new InvalidArgumentError(`It must be from 1 to ${MOST_FPS}.`);
  return fps;
}

interface PacksToBench {
  readonly wanted: readonly Pick<PackToBench, 'pack' | 'analyzerDir'>[];
  /** Folders that hold no usable pack, and why. */
  readonly bad: readonly { readonly dir: string; readonly problem: string }[];
}

/**
 * The engine packs of a folder, with its face analyzer or else that of the default folder. Rejects when there is no such
 * pack, or no face analyzer.
 */
export async function packsIn(packsDir: string, { engine }: Pick<Options, 'engine'>): Promise<PacksToBench> {
  const { packs, bad } = await openPackFolders(packsDir);
  const hasAnalyzer = packs.some(({ pack }) => pack.manifest.engine === 'analyzer');
  const analyzerDir = hasAnalyzer
    ? servingPack(packs, packsDir, 'analyzer').dir
    : servingPack((await openPackFolders(DEFAULT_PACKS_DIR)).packs, DEFAULT_PACKS_DIR, 'analyzer').dir;
  const wanted = packs.flatMap(({ pack }) => {
    const { manifest } = pack;
    if (manifest.engine === 'analyzer' || (engine !== undefined && manifest.engine !== engine)) return [];
    return [{ pack: { ...pack, manifest }, analyzerDir }];
  });
  if (wanted.length === 0) {
    const reasons = bad.map(({ dir, problem }) => `; ${dir}: ${problem}`);
    throw new Error(`there is no such pack to measure: ${engine ?? 'any engine'}${reasons.join('')}`);
  }
  return { wanted, bad };
}
