import { type LipSync, TimeoutError } from '@lipsync/client';
import type { Command } from 'commander';
import { duration } from '../choices';
import { CommandError } from '../failures/exit-codes';
import { checkRenderId, kindOf } from '../ids';
import { interruption, type Session } from '../session/session';
import { describe, progressOf } from './describe';
import { endOf, fetchResource, type Resource, throwIfUnsuccessful } from './resources';

export function addRecordCommands(program: Command, session: Session): void {
  program
    .command('status <id>')
    .description('show the state of a render, preparation, asset or webhook event')
    .action(async (id: string) => {
      const resource = await fetchResource(id, await session.client(), session.interrupted);
      await (await session.history()).note(id, { status: resource.status });
      session.answer(resource, describe(resource));
    });

  program
    .command('wait <id>')
    .description('wait until a render, preparation or asset has ended')
    .option('--timeout <duration>', 'stop waiting after this time, such as 90s, 30m or 2h', duration)
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
      checkRenderId(id);
      const record = await (await session.client()).renders.cancel(id, { signal: session.interrupted });
      await (await session.history()).note(id, { status: record.status });
      session.answer(record, describe(record));
    });
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
  let status: string | undefined;
  try {
    const last = await endOf(id, client, {
      signal: session.interrupted,
      timeoutMs,
      onState(state) {
        status = state.status;
        if (!('media' in state)) view.show(progressOf(state));
      },
    });
    throwIfUnsuccessful(last);
    return last;
  } catch (error) {
    if (session.interrupted.aborted)
      throw interruption(session, `Interrupted. ${id} goes on.`, `Wait for it: lipsync wait ${id}`);
    if (error instanceof TimeoutError)
      throw new CommandError(`${id} has not ended yet.`, 'later', `Wait for it: lipsync wait ${id}`);
    throw error;
  } finally {
    view.end();
    await history.note(id, { status });
  }
}
