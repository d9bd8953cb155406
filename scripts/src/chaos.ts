import path from 'node:path';
import { Command, Option } from 'commander';
import { FAULT_NAMES, type FaultName } from './chaos/faults';
import { type Mutant, MUTANTS } from './chaos/mutants';
import { type ChaosReport, describeRun, recoveryTable, verdictOf } from './chaos/report';
import { runChaos } from './chaos/run';
import { REPOSITORY_ROOT } from './local-stack/layout';
import { parseCount, parseWhole } from './number-option';

interface Options {
  seed: number[];
  minutes: number;
  fault?: FaultName[];
  mutant?: string;
  mutants?: true;
  actors: number;
  keep?: true;
}

/** `npm run chaos`: real services under faults, judged from outside. See docs/fault-testing.md. */
const program = new Command('chaos')
  .description(
    'Runs two of each service on this machine under seeded load and faults, and checks what must hold.',
  )
  .option(
    '--seed <n>',
    'of load and faults; repeat for several runs',
    (value, all: number[]) => [...all, parseWhole(value)],
    [],
  )
  .option('--minutes <m>', 'of load and faults', Number, 3)
  .addOption(new Option('--fault <name...>', 'only these').choices(FAULT_NAMES))
  .addOption(
    new Option('--mutant <name>', 'a service without one of its protections, which must be caught').choices(
      MUTANTS.map(({ name }) => name),
    ),
  )
  .option('--mutants', 'each of them in turn')
  .option('--actors <n>', 'clients side by side', parseCount, 4)
  .option('--keep', 'keep the data of the servers')
  .action(chaos);

async function chaos({ seed, minutes, fault, mutant, mutants, actors, keep }: Options): Promise<void> {
  const chosen = MUTANTS.filter(({ name }) => mutants === true || name === mutant);
  const seeds = seed.length > 0 ? seed : [1];
  const runs = seeds.flatMap((of): { seed: number; mutant?: Mutant }[] =>
    chosen.length > 0 ? chosen.map((one) => ({ seed: of, mutant: one })) : [{ seed: of }],
  );
  const reports: ChaosReport[] = [];
  for (const run of runs) {
    const folder = [run.seed, run.mutant?.name ?? []].flat().join('-');
    const root = path.join(REPOSITORY_ROOT, '.local', 'chaos', folder);
    const report = await runChaos({
      ...{ ...run, minutes, actors, root, keep: keep === true, say: console.log },
      ...(fault === undefined ? {} : { faults: fault }),
    });
    reports.push(report);
    console.log(describeRun(report).join('\n'), `\nHistory, logs and report: ${root}\n`);
  }
  if (reports.length > 1) {
    console.log(recoveryTable(reports.flatMap(({ recoveries }) => recoveries)).join('\n'));
    for (const report of reports)
      console.log(`seed ${report.seed} ${report.mutant ?? ''}: ${verdictOf(report)}`);
  }
  if (!reports.every((report) => ['held', 'caught'].includes(verdictOf(report)))) process.exitCode = 1;
}

program.parseAsync().catch((error: unknown) => {
  console.error(error);
  // The clients of a run that was interrupted would go on.
  process.exit(1);
});
