import { type LipSync, TimeoutError } from '@lipsync/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { checkRenderId, kindOf } from '../ids';
import { describe, progressOf } from '../render/describe';
import { endOf, fetchResource, type Resource } from '../render/resources';
import type { Made } from '../session/history';
import type { Session } from '../session/session';
import { type Answer, tool, type Workplace } from './call';
import { explainError, explanationLines } from './explanations';
import { listOutput, recordOutput, resourceId, waitSeconds } from './schemas';

export function addRecordTools(server: McpServer, workplace: Workplace): void {
  server.registerTool(
    'status',
    {
      title: 'Look at a render',
      description:
        'Returns the state of a render (ren_…), preparation (prp_…), asset (ast_…) or webhook event (evt_…) at once. For a render: the progress of each engine, why one failed, and its usage. For a webhook event: whether it was delivered, and how the receiver answered.',
      inputSchema: z.strictObject({ id: resourceId('ren_…, prp_…, ast_… or evt_…') }),
      outputSchema: recordOutput,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id }, { session }) => {
      const resource = await fetchResource(id, await session.client(), session.interrupted);
      await (await session.history()).note(id, { status: resource.status });
      return { ...answerOf(resource), isError: false };
    }),
  );

  server.registerTool(
    'list',
    {
      title: 'List what was made here',
      description:
        'Lists the renders, preparations and assets that this server and the lipsync command made on this machine with the same key, newest first. Use it to find an id again, even that of a cancelled call. The service itself has no lists. Each status is the last one known here; call status for the current one.',
      inputSchema: z.strictObject({
        last: z.int().min(1).max(500).default(20).describe('How many'),
      }),
      outputSchema: listOutput,
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    tool(workplace, async ({ last }, { session }) => {
      const made = (await (await session.history()).all()).slice(0, last);
      return { structured: { made }, lines: made.length === 0 ? ['Nothing yet.'] : made.map(lineOf) };
    }),
  );

  server.registerTool(
    'wait',
    {
      title: 'Wait for a render',
      description:
        'Waits until a render, preparation or asset has ended, and returns its last state. If wait_seconds pass first, it returns the state so far: call it again. The result is an error if the render, preparation or asset failed. Cancelling this call only stops the waiting.',
      inputSchema: z.strictObject({
        id: resourceId('ren_…, prp_… or ast_…'),
        wait_seconds: waitSeconds,
      }),
      outputSchema: recordOutput,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id, wait_seconds: seconds }, { session }) =>
      answerOf(await follow(id, seconds, await session.client(), session)),
    ),
  );

  server.registerTool(
    'cancel',
    {
      title: 'Cancel a render',
      description:
        'Cancels an unfinished render; this is final. Engines that have completed keep their results, which download can save. Cancelling again changes nothing. Preparations cannot be cancelled.',
      inputSchema: z.strictObject({ id: resourceId('ren_…') }),
      outputSchema: recordOutput,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id }, { session }) => {
      const client = await session.client();
      const record = await client.renders.cancel(checkRenderId(id), { signal: session.interrupted });
      await (await session.history()).note(id, { status: record.status });
      return answerOf(record);
    }),
  );
}

/**
 * The last state, whether it has ended or the time is over.
 * @param first what is known of it, if it is
 */
export async function follow(
  id: string,
  seconds: number,
  client: LipSync,
  session: Session,
  first?: Resource,
): Promise<Resource> {
  const view = await session.progress();
  let last = first;
  const onState = (state: Resource) => {
    last = state;
    if ('progress_percent' in state) view.show(progressOf(state));
  };
  try {
    last = await endOf(id, client, { signal: session.interrupted, timeoutMs: seconds * 1000, onState });
  } catch (error) {
    if (session.interrupted.aborted) session.say(`The call was cancelled; ${id} goes on.`);
    if (!(error instanceof TimeoutError) || last === undefined) throw error;
  }
  await (await session.history()).note(id, { status: last.status });
  return last;
}

/** An error if it failed. */
export function answerOf(record: Resource): Answer {
  const next = nextOf(record);
  const structured = { record, next };
  const lines = describe(record);
  if (record.status !== 'failed' || !('error' in record) || record.error === undefined)
    return { structured, lines: [...lines, '', next] };
  return {
    structured,
    lines: [...explanationLines(explainError(record.error)), '', ...lines],
    isError: true,
  };
}

function nextOf(record: Resource): string {
  if ('error' in record && record.error !== undefined) return explainError(record.error).what_to_do;
  const { id = '', status = '' } = record;
  switch (kindOf(id, 'failed')) {
    case 'event':
      return 'The service delivers it; there is nothing to do. To learn how a render ended, call status with its id.';
    case 'asset':
      return status === 'ready' ? `Use ${id} as "video" or "audio".` : `Call wait with ${id}.`;
    case 'preparation':
      if (status !== 'completed') return goesOn(id);
      return `Call render with preparation_id ${id} and, as "video", ${'video_asset_id' in record ? record.video_asset_id : 'its asset'}.`;
    case 'render':
      if (status === 'cancelled')
        return 'It has ended. If engines had completed, download saves their results.';
      if (status === 'completed') return `Save the results: call download with ${id}.`;
      return `${goesOn(id)}${savedAlready(record)}`;
  }
}

/** The engines of a render end one after another. */
function savedAlready(record: Resource): string {
  const engines = 'engines' in record ? record.engines : [];
  const done = engines.flatMap(({ engine, output }) => (output === undefined ? [] : [engine]));
  return done.length === 0 ? '' : ` download can already save the results of ${done.join(' and ')}.`;
}

function lineOf({ id, created_at, status, inputs, engines, files }: Made): string {
  const results = files.length === 0 ? '' : ` → ${files.join(', ')}`;
  return `${id} ${status} ${created_at} ${engines.join(', ')} ${inputs.join(' + ')}${results}`;
}

function goesOn(id: string): string {
  return `The work goes on. Call wait with ${id}.`;
}
