import path from 'node:path';
import { parseArgs } from 'node:util';
import { ENGINES } from '@lipsync/contract';
import { MEDIA_MAX_SECONDS, WORKING_FPS } from '@lipsync/domain';
import { PACKS_DIR } from '@lipsync/local-stack';
import { PUBLISHED } from './full-size/networks';
import { type PacksToBench } from './packs-to-bench';

const FRAME_SECONDS = 1 / WORKING_FPS;

export interface EngineOptions extends PacksToBench {
  /** Length of the clip. */
  readonly seconds: number;
}

/** Parses `[PACKS_DIR] [--full-size] [--engine ENGINE] [--seconds N]`. Throws Error with a one-line message. */
export function engineOptions(args: readonly string[]): EngineOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      'full-size': { type: 'boolean' },
      engine: { type: 'string' },
      seconds: { type: 'string' },
    },
    allowPositionals: true,
  });
  const { 'full-size': fullSize = false } = values;
  const engine = ENGINES.find((name) => name === values.engine);
  const [packsDir = PACKS_DIR, ...others] = positionals;
  if (others.length > 0) throw new Error(`one folder of packs is expected, not ${positionals.join(', ')}`);
  if (values.engine !== undefined && engine === undefined)
    throw new Error(`--engine must be one of ${ENGINES.join(', ')}`);
  const seconds = Number(values.seconds ?? (fullSize ? 1 : 6));
  if (!(seconds >= FRAME_SECONDS && seconds <= MEDIA_MAX_SECONDS))
    throw new Error(`--seconds must be from ${FRAME_SECONDS} to ${MEDIA_MAX_SECONDS}`);
  return {
    packsDir: path.resolve(packsDir),
    seconds,
    ...(engine !== undefined && { engine }),
    ...(fullSize && { untrained: PUBLISHED }),
  };
}
