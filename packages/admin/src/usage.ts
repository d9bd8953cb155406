import { type Db, listUsage, type RunUsage, sumUsage, type UsageTotal } from '@lipsync/db';
import { type PriceList, priceOf } from '@lipsync/runtime';
import { type Command, Option } from 'commander';
import { parseMonth, print, printCsv, type Row } from './command-line';
import { type Connection, requireCustomer } from './connect';

interface UsageOptions {
  customer?: string;
  month?: Date;
  runs?: boolean;
  csv?: boolean;
  json?: boolean;
}

export function addUsageCommand(program: Command, connection: Connection): void {
  program
    .command('usage')
    .description('what ended runs used, by month, customer and engine; --csv and --json have more columns')
    .option('--customer <customer-id>', 'only of this customer')
    .option('--month <month>', 'only of runs that ended in this month (UTC), such as 2026-10', parseMonth)
    .option('--runs', 'each run instead of totals; needs --month')
    .addOption(new Option('--csv').conflicts('json'))
    .option('--json')
    .action((options: UsageOptions) =>
      connection.withDatabase(async ({ db }) => {
        const { PRICE_LIST: list } = connection.usageSettings();
        const rows = await readRows(db, options, list);
        if (options.csv) printCsv(rows);
        else print(options.json ? rows : rows.map(brief), options);
      }),
    );
}

async function readRows(
  db: Db,
  { customer: customerId, month, runs }: UsageOptions,
  list: PriceList | undefined,
): Promise<Row[]> {
  await requireCustomer(db, customerId);
  if (!runs) return (await sumUsage(db, { customerId, month })).map((total) => totalRow(total, list));
  if (month === undefined) throw new Error('--runs needs --month');
  return (await listUsage(db, { customerId, month })).map(runRow);
}

function totalRow(total: UsageTotal, list: PriceList | undefined): Row {
  const price = list && priceOf(list, total.engine, total.outputSeconds ?? 0);
  return {
    month: total.month,
    customer_id: total.customerId,
    customer_name: total.customerName,
    engine: total.engine,
    completed: total.completed,
    failed: total.failed,
    cancelled: total.cancelled,
    input_video_seconds: rounded(total.inputVideoSeconds, 3),
    input_audio_seconds: rounded(total.inputAudioSeconds, 3),
    output_seconds: rounded(total.outputSeconds, 3),
    frames: total.frames,
    gpu_seconds: rounded(total.gpuSeconds, 3),
    cost_usd: rounded(total.costUsd, 6),
    runs_with_cost: total.runsWithCost,
    // By the price list of today: it is not stored, and what is stored does not follow the list.
    ...(list ? { list_price: rounded(price ?? null, 6), currency: list.currency } : {}),
  };
}

function runRow(run: RunUsage): Row {
  return {
    finished_at: run.finishedAt,
    customer_id: run.customerId,
    render_id: run.renderId,
    engine: run.engine,
    outcome: run.outcome,
    input_video_seconds: run.inputVideoSeconds,
    input_audio_seconds: run.inputAudioSeconds,
    output_seconds: run.outputSeconds,
    frames: run.frames,
    gpu_seconds: run.gpuSeconds,
    cost_usd: run.costUsd,
  };
}

/** What fits a terminal. */
function brief(row: Row): Row {
  const left = new Set(['customer_name', 'input_video_seconds', 'input_audio_seconds', 'runs_with_cost']);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name)));
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
