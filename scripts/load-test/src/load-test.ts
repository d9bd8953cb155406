import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '@lipsync/local-stack';
import { Command } from 'commander';
import { configOf, type LoadTestOptions } from './config';
import { addLoadTestOptions, openTarget } from './options';
import { renderHtml } from './report/page';
import { type LoadTestReport } from './report/report';
import { runLoadTest } from './run-load-test';

/**
 * `npm run load-test`: loads a deployment, or a local stack of its own, writes a report, and checks that everything
 * ended well.
 */
const program = addLoadTestOptions(
  new Command('load-test').description(
    'Open-loop load on the service, checks that everything accepted ended as promised, and a report.',
  ),
).action(loadTest);

async function loadTest(options: LoadTestOptions): Promise<void> {
  const say = (line: string): void => console.error(line);
  const config = configOf(options);
  const outDir = path.resolve(options.out);
  mkdirSync(outDir, { recursive: true });
  const target = await openTarget(options, say);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      say('Stopping the arrivals; what was accepted is still waited for (again to leave at once).');
      stopped.abort();
    });
  try {
    const report = await runLoadTest({ config, target, signal: stopped.signal, say });
    writeFileSync(path.join(outDir, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
    writeFileSync(path.join(outDir, 'report.html'), renderHtml(report));
    conclude(report, outDir);
  } finally {
    await target.close();
  }
}

function conclude({ summary, verdict, checks }: LoadTestReport, outDir: string): void {
  console.log(summary);
  for (const reason of verdict.reasons) console.log(`  ${reason}`);
  for (const { state, title, examined, failures, examples, note } of checks) {
    if (state === 'passed') console.log(`passed   ${title} (${examined})`);
    if (state === 'skipped') console.log(`skipped  ${title}: ${note}`);
    if (state !== 'failed') continue;
    console.log(`FAILED   ${title}: ${failures} of ${examined}`);
    for (const example of examples) console.log(`           ${example}`);
  }
  console.log(`Report: ${path.join(outDir, 'report.html')}`);
  if (checks.some(({ state }) => state === 'failed')) process.exitCode = 1;
}

runProgram(program);
