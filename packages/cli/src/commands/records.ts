import {
  type Asset,
  type LipSync,
  type PreparationRecord,
  type RenderRecord,
  TimeoutError,
} from '@lipsync/client';
import type { Command } from 'commander';
import { duration } from '../choices';
import { describe, progressOf, type Resource } from '../describe';
import { CommandError } from '../exit-codes';
import { type Kind, kindOf } from '../ids';
import { interruption, type Session } from '../session';

export function addRecordCommands(program: Command, session: Session): void {
  program
    .command('status <id>')
    .description('the state of a render, preparation, asset or webhook event')
    .action(async (id: string) => {
      const kind = kindOf(id);
      const resource = await fetchResource(kind, id, await session.client(), session.interrupted);
      await (await session.history()).note(id, { status: resource.status });
      session.answer(resource, describe(resource));
    });

  program
    .command('wait <id>')
    .description('wait until a render, preparation or asset has ended')
    .option('--timeout <duration>', 'stop waiting after this time, as 90s, 30m or 2h', duration)
    .action(async (id: string, { timeout }: { timeout?: number }) => {
      const kind = kindOf(id);
      const resource = await waitFor(id, timeout, await session.client(), session);
      session.answer(resource, describe(resource));
      if (kind === 'render') session.say(`Save the results: lipsync download ${id}`);
    });

  program
    .command('cancel <render-id>')
    .description('cancel a render; engines that have completed keep their results')
    .action(async (id: string) => {
      const record = await (await session.client()).renders.cancel(id, { signal: session.interrupted });
      await (await session.history()).note(id, { status: record.status });
      session.answer(record, describe(record));
    });
}

export function fetchResource(
  kind: Kind,
  id: string,
  client: LipSync,
  signal: AbortSignal,
): Promise<Resource> {
  switch (kind) {
    case 'render':
      return client.renders.get(id, { signal });
    case 'preparation':
      return client.preparations.get(id, { signal });
    case 'asset':
      return client.assets.get(id, { signal });
    case 'event':
      return client.webhooks.get(id, { signal });
  }
}

/** @throws RenderFailed, RenderCancelled, PreparationFailed, AssetFailed, CommandError when the time is over */
export async function waitFor(
  id: string,
  timeoutMs: number | undefined,
  client: LipSync,
  session: Session,
): Promise<Resource> {
  const view = await session.progress();
  const history = await session.history();
  const options = { signal: session.interrupted, timeoutMs };
  const last: { status?: string } = {};
  const onChange = (record: RenderRecord | PreparationRecord | Asset) => {
    last.status = record.status;
    if (!('media' in record)) view.show(progressOf(record));
  };
  try {
    switch (kindOf(id)) {
      case 'render':
        return await client.renders.wait(id, { ...options, onChange });
      case 'preparation':
        return await client.preparations.wait(id, { ...options, onChange });
      case 'asset':
        return await client.assets.wait(id, { ...options, onChange });
      case 'event':
        throw new CommandError(
          'Deliveries of webhooks are not waited for.',
          'usage',
          `See lipsync status ${id}`,
        );
    }
  } catch (error) {
    if (session.interrupted.aborted)
      throw interruption(session, `Interrupted. ${id} goes on.`, `Wait for it: lipsync wait ${id}`);
    if (error instanceof TimeoutError)
      throw new CommandError(`${id} has not ended yet.`, 'later', `Wait for it: lipsync wait ${id}`);
    throw error;
  } finally {
    view.end();
    await history.note(id, last);
  }
}
