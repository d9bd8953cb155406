import { inspectRender, type RenderInspection } from '@lipsync/db';
import type { Command } from 'commander';
import { printWithTables, type Row } from './command-line';
import type { Connection } from './connect';

export function addRenderCommands(program: Command, connection: Connection): void {
  program
    .command('renders')
    .description('renders of all customers')
    .command('show <render-id>')
    .description('where a render stands: its inputs, its engines, and the jobs that it waits for')
    .option('--json')
    .action((renderId: string, options: { json?: boolean }) =>
      connection.withContext(async ({ db }) => {
        const found = await inspectRender(db, renderId);
        if (found === null) throw new Error(`there is no render ${renderId}`);
        const tables = { inputs: inputRows(found), engines: engineRows(found), jobs: jobRows(found) };
        printWithTables(renderRow(found), tables, options);
      }),
    );
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
