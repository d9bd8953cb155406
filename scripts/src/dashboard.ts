import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createStack, DEFAULT_STACK_ROOT } from '@lipsync/local-stack';
import { Command, InvalidArgumentError } from 'commander';
import { readDashboard } from './dashboard/dashboard-file';
import { drawPage } from './dashboard/draw-page';
import { DASHBOARD_FILE } from './dashboard/files';
import { queryRange } from './dashboard/prometheus-client';
import { scrapeConfig } from './dashboard/scrape-config';
import { substitute } from './dashboard/substitute';
import { parseTime, timeRange } from './dashboard/time-range';

interface DrawOptions {
  prometheus: string;
  out: string;
  from: string;
  to: string;
  file: string;
  namespace: string;
  engine: string;
  scrapeSeconds: number;
}

/** `npm run dashboard -- …`: shows the dashboard without Grafana. */
const program = new Command('dashboard').description(
  'Draws the Grafana dashboard from a Prometheus server as one HTML page, to look at or to keep with a report.',
);

program
  .command('draw', { isDefault: true })
  .requiredOption('--prometheus <url>', 'the server to ask')
  .requiredOption('--out <file>', 'the page')
  .option('--from <time>', 'now-2h, or an ISO 8601 date', 'now-1h')
  .option('--to <time>', 'end of the range', 'now')
  .option('--file <file>', 'the dashboard', DASHBOARD_FILE)
  .option('--namespace <regex>', 'installations to show', '.*')
  .option('--engine <regex>', 'engines to show', '.*')
  .option('--scrape-seconds <n>', 'how often that server scrapes the services', seconds, 15)
  .action(async (options: DrawOptions) => {
    const now = Date.now() / 1000;
    const { prometheus, namespace, engine, scrapeSeconds } = options;
    const range = timeRange(parseTime(options.from, now), parseTime(options.to, now), scrapeSeconds);
    const fill = (text: string, variables: Record<string, string>): string =>
      substitute(text, variables, range, scrapeSeconds);
    const source = {
      run: (expr: string) => queryRange(prometheus, fill(expr, { namespace, engine }), range),
      title: (text: string) => fill(text, { namespace, engine: engine === '.*' ? 'all engines' : engine }),
      name: prometheus,
    };
    const page = await drawPage(readDashboard(options.file), source, range);
    writeFileSync(options.out, page);
    console.log(options.out);
  });

program
  .command('scrape-config')
  .description('a Prometheus configuration for the local stack')
  .option('--root <dir>', 'data of the stack', DEFAULT_STACK_ROOT)
  .option('--scrape-seconds <n>', 'how often it scrapes', seconds, 5)
  .option('--out <file>', 'where to write it; else it is printed')
  .action(({ root, scrapeSeconds, out }: { root: string; scrapeSeconds: number; out?: string }) => {
    const description = createStack({ root: path.resolve(root) }).describe();
    if (description === null) throw new Error('the stack was never up (npm run stack -- up)');
    const config = scrapeConfig(description.services, scrapeSeconds);
    if (out === undefined) process.stdout.write(config);
    else writeFileSync(out, config);
  });

function seconds(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('a positive whole number of seconds');
  return Number(text);
}

program.parseAsync().catch((error: unknown) => {
  console.error(`dashboard: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
