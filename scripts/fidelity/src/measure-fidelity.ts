import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES } from '@lipsync/contract';
import { parseEngines, printFigures, runProgram, untilInterrupted } from '@lipsync/local-stack';
import { Command, Option } from 'commander';
import { type Case, CASES } from './cases';
import { faultsOf } from './faults';
import { type Fidelity, measureCase } from './measure-case';
import { startService } from './service';

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
    printFigures({ results: judged }, 5);
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

const COLUMNS = [
  ...['case', 'engine', 'dropped', 'repeated', 'held', 'moved ms', 'judder ms', 'dB outside', 'SSIM', 'bits'],
  ...['codes', 'combing', 'sound ms', 'sound dB', 'faults'],
];

/** The results as a table of Markdown. */
function tableOf(results: readonly Fidelity[]): string {
  const rows = [COLUMNS, COLUMNS.map(() => '---'), ...results.map(rowOf)];
  return rows.map((row) => `| ${row.join(' | ')} |\n`).join('');
}

function rowOf(result: Fidelity): string[] {
  const { output } = result;
  const faults = faultsOf(result).join('; ') || 'none';
  const start = [result.case, result.engine];
  if (output === undefined) return [...start, ...COLUMNS.slice(3).map(() => ''), faults];
  const { pictures, outside_face: outside, luma_codes: codes, combing, sound, video } = output;
  const percent = (part: number): string => (100 * part).toFixed(2);
  return [
    ...start,
    ...[`${pictures.dropped} of ${pictures.expected}`, `${pictures.repeated}`, `${pictures.held}`],
    ...[`${pictures.moved_ms}`, `${pictures.judder_ms}`],
    ...[outside?.psnr_db.toFixed(1) ?? '', outside?.ssim.toFixed(4) ?? ''],
    ...[`${video?.depth} ${video?.codec}`, `${codes.source} → ${codes.output}`],
    ...[`${percent(combing.source)} → ${percent(combing.output)} %`],
    ...[`${sound?.offset_ms ?? ''}`, sound?.snr_db.toFixed(1) ?? '', faults],
  ];
}

runProgram(program);
