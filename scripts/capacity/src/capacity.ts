import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { DEFAULT_STACK_ROOT, machine, runProgram } from '@lipsync/local-stack';
import { Command, InvalidArgumentError, Option } from 'commander';
import { compare } from './compare';
import { measure } from './measure';
import { measureEnqueueing } from './measure-enqueueing';
import { plan } from './plan';
import { printComparison, printPlan } from './print';
import { readPrices, readProfile } from './profile';

interface PlanOptions {
  rendersPerHour: number;
  profile: string;
  prices?: string;
  engines?: Record<string, number>;
  outputSeconds: number;
  outputVariation: number;
  newVideoShare: number;
  customers: number;
  runningJobs: number;
  startWithin: number;
  ingestWithin: number;
  utilization: number;
  utilisation?: number;
  apiRequestsPerPod: number;
  json?: boolean;
}

/** `npm run capacity -- …`: how many pods a load of renders needs. See docs/capacity.md. */
const program = new Command('capacity').description(
  'Pods and costs for a number of renders per hour, from measured service times and a simulation of the service.',
);

program
  .command('plan', { isDefault: true })
  .requiredOption('--renders-per-hour <n>', 'to be carried', positive)
  .requiredOption('--profile <file>', 'measured service times (capacity measure)')
  .option('--prices <file>', 'of pods, per hour')
  .option('--engines <shares>', 'musetalk=0.7,latentsync=0.3; else all of the profile equally', shares)
  .option('--output-seconds <n>', 'mean length of an output', positive, 20)
  .option('--output-variation <n>', 'standard deviation of it over its mean', notNegative, 0.8)
  .option('--new-video-share <0..1>', 'renders whose video was never analyzed', notNegative, 0.5)
  .option('--customers <n>', 'among whom renders are spread', positive, 100)
  .option('--running-jobs <n>', 'that a customer may have', positive, DEFAULT_CUSTOMER_LIMITS.runningJobsMax)
  .option('--start-within <seconds>', '95 % of engine jobs', positive, 60)
  .option('--ingest-within <seconds>', '95 % of ingests', positive, 10)
  .option('--utilization <0..1>', 'of any pool at most', positive, 0.8)
  // Its name before 1.1, until 2.0.
  .addOption(new Option('--utilisation <0..1>').argParser(positive).hideHelp())
  .option('--api-requests-per-pod <n>', 'per second, within the latency objective', positive, 200)
  .option('--json', 'as JSON')
  .action((options: PlanOptions) => {
    const profile = readProfile(options.profile);
    const prices = options.prices === undefined ? null : readPrices(options.prices);
    const names = Object.keys(profile.engines);
    const { rendersPerHour, outputSeconds, outputVariation, newVideoShare, customers, json } = options;
    const engines = options.engines ?? Object.fromEntries(names.map((name) => [name, 1 / names.length]));
    const workload = { rendersPerHour, engines, outputSeconds, outputVariation, newVideoShare, customers };
    const targets = {
      startSeconds: options.startWithin,
      ingestStartSeconds: options.ingestWithin,
      utilization: options.utilisation ?? options.utilization,
      apiRequestsPerPod: options.apiRequestsPerPod,
      runningJobsMax: options.runningJobs,
    };
    const planned = plan(profile, workload, targets, prices);
    if (json === true) return console.log(JSON.stringify({ workload, targets, plan: planned }, null, 2));
    printPlan(planned, prices?.currency ?? '');
  });

program
  .command('measure')
  .description('run a command that makes renders on the local stack, and write down what they took')
  .option('--root <dir>', 'data of the stack', DEFAULT_STACK_ROOT)
  .requiredOption('--out <file>', 'the profile')
  .argument('<command...>', 'behind --')
  .action(async (command: string[], { root, out }: { root: string; out: string }) => {
    const profile = await measure(path.resolve(root), command);
    writeFileSync(out, `${JSON.stringify(profile, null, 2)}\n`);
    printComparison(compare(profile));
  });

program
  .command('check')
  .description('hold the simulation to the renders of a profile')
  .argument('<profile>')
  .option('--json', 'as JSON')
  .action((file: string, { json }: { json?: boolean }) => {
    const comparison = compare(readProfile(file));
    if (json === true) console.log(JSON.stringify(comparison, null, 2));
    else printComparison(comparison);
  });

program
  .command('enqueueing')
  // Its name until 2.0.
  .alias('admission')
  .description('what a round of enqueueing costs, by the length of the backlog, on a scratch Postgres')
  .option('--waiting <counts>', 'lengths of the backlog', '0,1000,10000,100000')
  .action(async ({ waiting }: { waiting: string }) => {
    const costs = await measureEnqueueing(waiting.split(',').map(notNegative));
    console.log(JSON.stringify({ machine: machine(), costs }, null, 2));
  });

function notNegative(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('a number that is not negative');
  return value;
}

function positive(text: string): number {
  const value = notNegative(text);
  if (value === 0) throw new InvalidArgumentError('a positive number');
  return value;
}

function shares(text: string): Record<string, number> {
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', value = '1'] = part.split('=');
      return [name.trim(), positive(value)];
    }),
  );
}

runProgram(program);
