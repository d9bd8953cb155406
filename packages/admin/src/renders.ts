import {
  cancelOpenRenders,
  cancelRender,
  type Db,
  inspectRender,
  type ListedRender,
  listRenders,
  type RenderInspection,
} from '@lipsync/db';
import { RECORD_STATES } from '@lipsync/domain';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { complain, LIST_MAX, print, printWithTables, type Row } from './command-line';
import { type Connection, type DatabaseContext, requireCustomer } from './connect';

interface CustomerOption {
  customer?: string;
  json?: boolean;
}

interface ListOptions extends CustomerOption {
  state?: (typeof RECORD_STATES.states)[number][];
  source?: string;
}

export function addRenderCommands(program: Command, connection: Connection): void {
  const renders = program.command('renders').description('renders of all customers');

  renders
    .command('show <render-id>')
    .description('where a render stands: its inputs, its engines, and the jobs that it waits for')
    .option('--json')
    .action((renderId: string, options: { json?: boolean }) =>
      connection.withDatabase(async ({ db }) => {
        const found = await findRender(db, renderId);
        const tables = { inputs: inputRows(found), engines: engineRows(found), jobs: jobRows(found) };
        printWithTables(renderRow(found), tables, options);
      }),
    );

  renders
    .command('list')
    .description(`the newest ${LIST_MAX} renders, newest first`)
    .option('--customer <customer-id>', 'only of this customer')
    .addOption(new Option('--state <state...>', 'only in these states').choices(RECORD_STATES.states))
    .option(
      '--source <sha256>',
      'only those made from a file with this SHA-256, which content credentials name',
      digest,
    )
    .option('--json')
    .action(({ customer, state, source, json }: ListOptions) =>
      connection.withDatabase(async ({ db }) => {
        await requireCustomer(db, customer);
        const { renders, leftOut } = await listRenders(db, {
          customerId: customer,
          states: state,
          sourceSha256: source,
          limit: LIST_MAX,
        });
        print(renders.map(listedRow), { json });
        if (leftOut > 0) complain(`${leftOut} older ones are not shown`);
      }),
    );

  renders
    .command('cancel [render-id]')
    .description('cancel a render, or every unfinished one of a customer, as the caller could')
    .option('--customer <customer-id>', 'all of this customer')
    .option('--json')
    .action((renderId: string | undefined, { customer, json }: CustomerOption) =>
      connection.withDatabase(async (context) => {
        if ((renderId === undefined) === (customer === undefined))
          throw new Error('cancel takes either the id of a render or --customer');
        await requireCustomer(context.db, customer);
        if (renderId !== undefined) print(await cancelOne(context, renderId), { json });
        if (customer !== undefined)
          print({ cancelled: await cancelOpenRenders(context.db, customer, context.act) }, { json });
      }),
    );
}

function digest(value: string): string {
  if (!/^[0-9a-f]{64}$/i.test(value)) throw new InvalidArgumentError('Expected a SHA-256 in hex.');
  return value.toLowerCase();
}

async function findRender(db: Db, renderId: string): Promise<RenderInspection> {
  const found = await inspectRender(db, renderId);
  if (found === null) throw new Error(`there is no render ${renderId}`);
  return found;
}

async function cancelOne({ db, act }: DatabaseContext, renderId: string): Promise<Row> {
  const { render } = await findRender(db, renderId);
  await cancelRender(db, render.customerId, renderId, act);
  return { id: renderId, customer_id: render.customerId, status: 'cancelled' };
}

function listedRow(render: ListedRender): Row {
  return {
    id: render.id,
    customer_id: render.customerId,
    status: render.status,
    stage: render.stage,
    engines: render.engines.join(' '),
    error_code: render.errorCode,
    created_at: render.createdAt,
    completed_at: render.completedAt,
  };
}

function renderRow({ render, customerName, webhookEventId }: RenderInspection): Row {
  return {
    id: render.id,
    customer_id: render.customerId,
    customer_name: customerName,
    status: render.status,
    stage: render.stage,
    error_code: render.errorCode,
    created_at: render.createdAt,
    completed_at: render.completedAt,
    expires_at: render.expiresAt,
    purged_at: render.purgedAt,
    preparation_id: render.preparationId,
    webhook_event_id: webhookEventId,
  };
}

function inputRows({ inputs }: RenderInspection): Row[] {
  return inputs.map(({ id, mediaType, status, stage, errorCode, errorDetail, sourceUrl }) => ({
    asset_id: id,
    media_type: mediaType,
    status,
    stage,
    error_code: errorCode,
    error_detail: errorDetail,
    // A customer's URL may contain a signature, so only its origin is shown.
    source: sourceUrl === null ? 'upload' : new URL(sourceUrl).origin,
  }));
}

function engineRows({ runs }: RenderInspection): Row[] {
  return runs.map(({ id, engine, status, stage, progressPercent, errorCode, errorDetail }) => ({
    engine,
    run_id: id,
    status,
    stage,
    progress_percent: progressPercent,
    error_code: errorCode,
    error_detail: errorDetail,
  }));
}

/** In the order in which they can start: inputs, then engines. */
function jobRows({ inputs, runs, jobs }: RenderInspection): Row[] {
  const subjects = [
    ...inputs.map(({ id, mediaType }) => ({ id, name: mediaType })),
    ...runs.map(({ id, engine }) => ({ id, name: engine })),
  ];
  return subjects.flatMap(({ id, name }) =>
    jobs
      .filter((job) => job.assetId === id || job.engineRunId === id)
      .map((job) => ({
        job_id: job.id,
        of: name,
        status: job.status,
        attempts: job.attempts,
        last_error: job.lastErrorCode,
        available_at: job.availableAt,
        lease_until: job.leaseUntil,
        worker_id: job.workerId,
      })),
  );
}
