import path from 'node:path';
import { type Engine, ENGINES } from '@lipsync/contract';
import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { openPackFolders } from '@lipsync/gpu-worker';
import { PACKS_DIR } from '@lipsync/local-stack';
import { type Manifest, type Pack } from '@lipsync/model-pack';
import { servingAnalyzer } from '@lipsync/models';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';

export interface PacksToBench {
  /** Contains the face analyser and the packs. */
  readonly packsDir: string;
  /** Restricts the bench to this engine's packs. */
  readonly engine?: Engine;
  /** Length of the clip. */
  readonly seconds: number;
}

export type EngineManifest = Exclude<Manifest, { engine: 'analyzer' }>;

/** An engine's pack and the face analyser that goes with it; see `isolatePack`. */
interface PackToBench {
  readonly pack: Pack<EngineManifest>;
  readonly analyzerDir: string;
}

/** Adds `[PACKS_DIR] [--engine ENGINE] [--seconds N]` to a command. */
export function withPacks(command: Command, bench: (packs: PacksToBench) => Promise<void>): Command {
  return command
    .addArgument(new Argument('[packs-dir]', 'a face analyser and the packs to measure').default(PACKS_DIR))
    .addOption(new Option('--engine <name>', "only this engine's packs").choices(ENGINES))
    .option('--seconds <n>', 'length of the clip', parseSeconds, 6)
    .action((packsDir: string, options: Omit<PacksToBench, 'packsDir'>) =>
      bench({ ...options, packsDir: path.resolve(packsDir) }),
    );
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 / WORKING_FPS && seconds <= MEDIA_MAX_SECONDS))
    throw new InvalidArgumentError(`It must be from ${1 / WORKING_FPS} to ${MEDIA_MAX_SECONDS}.`);
  return seconds;
}

/** @throws when there is none, or no face analyser */
export async function packsToBench({ packsDir, engine }: PacksToBench): Promise<PackToBench[]> {
  const { packs } = await openPackFolders(packsDir);
  const analyzerDir = servingAnalyzer(packs, packsDir).dir;
  const wanted = packs.flatMap(({ pack }) => {
    const { manifest } = pack;
    if (manifest.engine === 'analyzer' || (engine !== undefined && manifest.engine !== engine)) return [];
    return [{ pack: { ...pack, manifest }, analyzerDir }];
  });
  if (wanted.length === 0) throw new Error(`there is no such pack to measure: ${engine ?? 'any engine'}`);
  return wanted;
}
