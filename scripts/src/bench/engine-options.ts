import path from 'node:path';
import { parseArgs } from 'node:util';
import { PACKS_DIR } from '../local-stack/layout';
import { PUBLISHED } from './full-size/networks';
import { type PacksToBench } from './packs-to-bench';

export interface EngineOptions extends PacksToBench {
  /** Length of the clip. */
  readonly seconds: number;
}

/** `[PACKS_DIR] [--full-size] [--engine ENGINE] [--seconds N]`. Throws Error with one line about what is wrong. */
export function engineOptions(args: readonly string[]): EngineOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      'full-size': { type: 'boolean' },
      engine: { type: 'string' },
      seconds: { type: 'string', default: '6' },
    },
    allowPositionals: true,
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error('--seconds must be a positive number');
  return {
    packsDir: path.resolve(positionals[0] ?? PACKS_DIR),
    seconds,
    ...(values.engine !== undefined && { engine: values.engine }),
    ...(values['full-size'] === true && { untrained: PUBLISHED }),
  };
}
