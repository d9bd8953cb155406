import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES } from '@lipsync/contract';
import { parseEngines, runProgram, untilInterrupted } from '@lipsync/local-stack';
import { Command, Option } from 'commander';
import { type Case, CASES } from './cases';
import { faultsOf } from './faults';
import { type Fidelity, measureCase } from './measure-case';
import { startService } from './service';
import { tableOf } from './table';

interface Options {
  engines: Engine[];
  cases?: string[];
  packsDir?: string;
  keep?: string;
  table?: string;
}

/** `npm run measure:fidelity`: prints one JSON object. */
const program = new Command('measure:fidelity')
  .description(
    'Does the video come back as it was, but for the mouth? Renders sources of known pictures, times, colors and ' +
      'sounds on a local stack of its own, and reads the results back.',
  )
  .addOption(
    new Option('--engines <names>', 'engines to render with, separated by commas')
      .argParser(parseEngines)
      .default([...ENGINES], ENGINES.join(',')),
  )
  .option('--cases <names>', 'parts of the names of cases, separated by commas; else all', (text: string) =>
    text.split(','),
  )
  .option('--packs-dir <dir>', 'folder of model packs; else packs that cost next to nothing')
  .option('--keep <dir>', 'folder that keeps sources, voices and rendered videos')
  .option('--table <file>', 'writes the results as a table of Markdown too')
  .action(async (options: Options) => {
    const results = await measureFidelity(options);
    if (options.table !== undefined) await writeFile(options.table, tableOf(results));
    const judged = results.map((result) => ({ ...result, faults: faultsOf(result) }));
    console.log(JSON.stringify({ results: judged }, rounded, 2));
  });

async function measureFidelity({ engines, cases, packsDir, keep }: Options): Promise<Fidelity[]> {
  const wanted = CASES.filter(({ name }) => cases?.some((part) => name.includes(part)) ?? true);
  if (wanted.length === 0) throw new Error(`no case has such a name; there are: ${names(CASES)}`);
  const scratch = await mkdtemp(path.join(tmpdir(), 'fidelity-'));
  try {
    const service = await untilInterrupted(startService(packsDir));
    try {
      const results: Fidelity[] = [];
      for (const each of wanted) {
        console.error(`${each.name} …`);
        const folder = keep === undefined ? scratch : path.resolve(keep);
        const measured = await untilInterrupted(measureCase(service.api, each, { engines, folder }));
        for (const result of measured)
          for (const fault of faultsOf(result)) console.error(`  ✗ ${result.engine}: ${fault}`);
        results.push(...measured);
      }
      return results;
    } finally {
      await service.stop();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const names = (cases: readonly Case[]): string => cases.map(({ name }) => name).join(', ');

const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toPrecision(5)) : value;

runProgram(program);
