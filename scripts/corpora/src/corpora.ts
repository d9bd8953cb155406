import { parseWhole, untilInterrupted } from '@lipsync/local-stack';
import { Argument, Command } from 'commander';
import { tryAddresses } from './addresses';
import { tryMedia } from './media';
import { type Origins, startOrigins, tryOrigins } from './origins';
import { fuzzRequests } from './requests';
import { type CorpusResult, startTestBed, type TestBed } from './test-bed';
import { tryWire } from './wire';

interface Tools {
  bed: TestBed;
  origins: Origins;
  seed: number;
  count: number | undefined;
}

type TimedResult = CorpusResult & { tried: number; seconds: number };

const CORPORA = {
  addresses: ({ bed }) => tryAddresses(bed),
  origins: ({ bed }) => tryOrigins(bed),
  media: ({ bed, origins, seed, count = 70 }) => tryMedia(bed, origins, seed, count),
  wire: ({ bed, seed, count = 500 }) => tryWire(bed, seed, count),
  requests: ({ bed, seed, count = 20_000 }) => fuzzRequests(bed, seed, count),
} satisfies Record<string, (tools: Tools) => Promise<CorpusResult>>;
type Name = keyof typeof CORPORA;
const NAMES = Object.keys(CORPORA) as Name[];

/** Violations to print; all of them are in the JSON. */
const SHOWN = 20;

/** `npm run corpora`: hostile input of all kinds against a local stack, from outside. */
const program = new Command('corpora')
  .description(
    'Tries hostile input against a local stack of its own: addresses that must not be reached, origins and receivers ' +
      'that misbehave, damaged media, bytes that are no HTTP, and requests derived from the contract. Canaries watch ' +
      'what must not be reached or told. Prints a table to the error output and JSON to the output; exit code 1 on a violation.',
  )
  .addArgument(new Argument('[corpus...]', 'all unless named').choices(NAMES).default(NAMES))
  .option('--seed <n>', 'repeats the random part of an earlier run', parseWhole, 1)
  .option(
    '--count <n>',
    'inputs that chance makes (default: 70 files, 500 exchanges, 20000 requests)',
    parseWhole,
  )
  .action(run);

async function run(names: Name[], { seed, count }: { seed: number; count?: number }): Promise<void> {
  const origins = await startOrigins();
  try {
    const bed = await startTestBed(origins);
    try {
      const results = await untilInterrupted(offerAll(names, { bed, origins, seed, count }));
      console.log(JSON.stringify({ seed, results }, null, 2));
      if (Object.values(results).some(({ violations }) => violations.length > 0)) process.exitCode = 1;
    } finally {
      await bed.stop();
    }
  } finally {
    await origins.close();
  }
}

async function offerAll(names: readonly Name[], tools: Tools): Promise<Record<string, TimedResult>> {
  const results: Record<string, TimedResult> = {};
  // The last one leaves a backlog that others would wait behind.
  for (const name of NAMES.filter((known) => names.includes(known))) {
    const startedAt = performance.now();
    const result = await CORPORA[name](tools).catch((error: unknown): CorpusResult => ({
      outcomes: {},
      violations: [`stopped: ${String(error)}`],
    }));
    result.violations.push(...tools.bed.newAlarms());
    const tried = Object.values(result.outcomes).reduce((sum, count) => sum + count, 0);
    results[name] = { tried, seconds: Math.round((performance.now() - startedAt) / 1000), ...result };
    tell(name, results[name]);
  }
  return results;
}

function tell(name: string, { tried, seconds, outcomes, facts, violations }: TimedResult): void {
  const numbers = Object.entries({ ...outcomes, ...facts }).map(([what, value]) => `${what} ${value}`);
  console.error(`${name.padEnd(10)} ${tried} tried, ${violations.length} violations, ${seconds} s`);
  console.error(`           ${numbers.join(', ')}`);
  for (const violation of violations.slice(0, SHOWN)) console.error(`  ✗ ${violation}`);
}

program.parseAsync().catch((error: unknown) => {
  console.error(`corpora: ${error instanceof Error ? error.message : String(error)}`);
  // Interrupted work would keep the process alive.
  process.exit(1);
});
