import path from 'node:path';
import { type LipSync, type RenderRecord, TimeoutError } from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import { failureOf, whyFailed } from '../failures/failures';
import { checkRenderId } from '../ids';
import { interruption, type Session } from '../session/session';
import { progressOf } from './describe';
import { throwIfUnsuccessful } from './resources';
import { type PlannedFile, type SavedFile, saveResults } from './results';

export interface FinishOptions {
  /** Milliseconds to wait at most. */
  timeout?: number | undefined;
  cancelOnInterrupt?: boolean | undefined;
}

export interface RenderAnswer {
  render: RenderRecord;
  files: SavedFile[];
}

/**
 * Waits for the end of a render with a line for each engine, saves what its engines made, and answers with it.
 * @throws CommandError when not every engine completed, or waiting has ended before the render
 */
export async function finishRender(
  accepted: RenderRecord,
  planned: readonly PlannedFile[],
  options: FinishOptions,
  client: LipSync,
  session: Session,
): Promise<void> {
  checkRenderId(accepted.id, 'failed');
  const history = await session.history();
  const record = await followRender(accepted, options, client, session).catch(async (error: unknown) => {
    throw await whatGoesOn(error, accepted, options, client, session);
  });
  await history.note(record.id, { status: record.status });
  const files = await saveResults(record, planned, client, session).catch((error: unknown) => {
    if (!session.interrupted.aborted) throw error;
    throw interruption(
      session,
      'Interrupted before all results were saved.',
      `Save them: lipsync download ${record.id}`,
    );
  });
  await history.note(record.id, { files: files.map((file) => path.resolve(file.path)) });
  const answer: RenderAnswer = { render: record, files };
  // A render that failed as a whole has no files, and the document of its failure has the render.
  if (files.length > 0 || record.status === 'completed')
    session.answer(
      answer,
      files.map((file) => file.path),
    );
  for (const { engine, usage } of record.engines)
    if (usage.output_seconds !== undefined && usage.processing_ms !== undefined)
      session.say(
        `${engine}: ${usage.output_seconds.toFixed(2)} s of video in ${(usage.processing_ms / 1000).toFixed(1)} s`,
      );
  throwUnlessComplete(record);
}

async function followRender(
  render: RenderRecord,
  { timeout: timeoutMs }: FinishOptions,
  client: LipSync,
  session: Session,
): Promise<RenderRecord> {
  const view = await session.progress();
  let last = render;
  try {
    for await (last of client.renders.watch(render, { signal: session.interrupted, timeoutMs }))
      view.show(progressOf(last));
    return last;
  } finally {
    view.end();
  }
}

/** Waiting can end before the render does: then the user learns that it goes on, and how. */
async function whatGoesOn(
  error: unknown,
  { id }: RenderRecord,
  { cancelOnInterrupt }: FinishOptions,
  client: LipSync,
  session: Session,
): Promise<unknown> {
  const advice = [
    `Wait for it and save the results: lipsync download ${id}`,
    `Only wait for it: lipsync wait ${id}`,
    `Cancel it: lipsync cancel ${id}`,
  ].join('\n');
  if (session.interrupted.aborted) {
    if (cancelOnInterrupt !== true)
      return interruption(session, `Interrupted. Render ${id} goes on.`, advice);
    try {
      const { status } = await client.renders.cancel(id);
      await (await session.history()).note(id, { status });
      return interruption(session, `Interrupted. Render ${id} is cancelled.`);
    } catch (refusal) {
      const { message } = failureOf(refusal);
      return interruption(session, `Interrupted. Render ${id} could not be cancelled: ${message}`, advice);
    }
  }
  if (error instanceof TimeoutError)
    return new CommandError(`Render ${id} has not ended yet.`, 'later', advice);
  return error;
}

function throwUnlessComplete(record: RenderRecord): void {
  throwIfUnsuccessful(record);
  const failed = record.engines.filter(({ status }) => status !== 'completed');
  if (failed.length === 0) return;
  const reasons = failed.map(
    ({ engine, status, error }) =>
      `${engine}: ${error === undefined ? status : `${whyFailed(error)} (${error.code})`}`,
  );
  throw new CommandError(
    failed.length === 1
      ? `One engine did not complete. ${reasons.join()}`
      : `Engines did not complete: ${reasons.join(' · ')}`,
    'partial',
    failed.some(({ error }) => error?.retryable === true)
      ? 'Render again with that engine alone.'
      : undefined,
  );
}
