import { setTimeout as pause } from 'node:timers/promises';
import type { LipSync, PreparationRecord, RenderRecord } from '@lipsync/client';
import { type Command, Option } from 'commander';
import { CommandError } from '../failures/exit-codes';
import { failureOf, isForgotten } from '../failures/failures';
import { kindOf } from '../ids';
import { hasEnded, type History } from '../session/history';
import { type GlobalOptions, interruption, type Session } from '../session/session';
import { printDocument, printLine } from '../terminal/print';
import { type Attempt, deliver, describeAttempt, receiverOf } from './deliver';
import { eventOf, newId } from './events';
import { saySecret, secretFileOption, signingSecret } from './secrets';

/** Between two looks for what other processes have made. */
const LOOK_MS = 500;
/** Before the second attempt, unless the receiver names another time. */
const AGAIN_SECONDS = 3;
const AGAIN_SECONDS_MAX = 300;
/** Before the service is asked again, after the client has tried for minutes. */
const UNREACHABLE_MS = 5_000;

interface ListenOptions extends GlobalOptions {
  forward: string;
  render?: string[];
  secretFile?: string;
  print: 'text' | 'json';
}

interface Listening {
  to: URL;
  secret: string;
  client: LipSync;
  history: History;
  session: Session;
  /** Aborted with the failure of one of those that are followed. */
  failed: AbortController;
  /** Aborted by the user as well. */
  signal: AbortSignal;
  onAttempt: (attempt: Attempt) => void;
}

export function addListenCommand(webhook: Command, session: Session): void {
  webhook
    .command('listen')
    .description('post the end of each render to a receiver on this machine, signed as the service signs it')
    .requiredOption('--forward <url>', 'the receiver, such as http://localhost:3000/hook')
    .option(
      '--render <id>',
      'follow only this render or preparation, and exit when it has ended; repeat for several. Default: all that this command makes with your key, until Ctrl-C',
      (id, ids: string[] = []) => [...new Set([...ids, checkFollowed(id)])],
    )
    .addOption(secretFileOption())
    .addOption(
      new Option('--print <form>', 'print each delivery as a line of text or JSON')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(async (_: object, command: Command) => {
      const options = command.optsWithGlobals<ListenOptions>();
      const to = receiverOf(options.forward);
      const secret = await signingSecret(options.secretFile, session);
      const attempts: Attempt[] = [];
      const failed = new AbortController();
      const listening: Listening = {
        to,
        secret: secret.hex,
        client: await session.client(),
        history: await session.history(),
        session,
        failed,
        signal: AbortSignal.any([session.interrupted, failed.signal]),
        onAttempt(attempt) {
          attempts.push(attempt);
          // With --json they are part of the answer.
          if (options.json === true) return;
          if (options.print === 'json') printDocument(session.stdout, attempt, 0);
          else printLine(session.stdout, describeAttempt(attempt));
        },
      };
      session.say(`Forwarding to ${to.origin}${to.pathname}`);
      saySecret(secret, session);
      await listen(options.render, listening);
      session.answer({ deliveries: attempts }, []);
      // What the service has forgotten has no event, and still was to be delivered.
      const expected = options.render?.length ?? new Set(attempts.map(({ event }) => event.id)).size;
      const delivered = attempts.filter((attempt) => attempt.delivered).length;
      const result = `${delivered} of ${expected} events were delivered.`;
      if (options.render !== undefined && delivered < expected) throw new CommandError(result, 'failed');
      session.say(result);
    });
}

function checkFollowed(id: string): string {
  if (['render', 'preparation'].includes(kindOf(id))) return id;
  throw new CommandError(`"${id}" has no events.`, 'usage', 'Name a render (ren_…) or preparation (prp_…).');
}

/** @throws CommandError when the user does not wait for the end of what was named */
async function listen(named: readonly string[] | undefined, listening: Listening): Promise<void> {
  const { session, failed } = listening;
  const running: Promise<void>[] = [];
  const start = (id: string) =>
    void running.push(follow(id, listening).catch((error: unknown) => failed.abort(error)));
  if (named === undefined) await startAll(start, listening);
  else named.forEach(start);
  // Ends that were forwarded are also recorded.
  await Promise.all(running);
  // If none were named, an interrupt is the only way to stop.
  if (!session.interrupted.aborted) failed.signal.throwIfAborted();
  else if (named !== undefined) throw interruption(session, 'Interrupted before all had ended.');
}

/** Starts with whatever had not ended when it was last heard of, and whatever is made until the end. */
async function startAll(start: (id: string) => void, { history, signal }: Listening): Promise<void> {
  const known = new Set((await history.all()).filter(hasEnded).map(({ id }) => id));
  while (!signal.aborted) {
    for (const id of await history.ids()) {
      if (known.has(id) || kindOf(id) === 'asset') continue;
      known.add(id);
      start(id);
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Resolves when the end of one render or preparation was told, or never will be. */
async function follow(id: string, listening: Listening): Promise<void> {
  const { history, session } = listening;
  const record = await endOf(id, listening);
  if (record === null) session.say(`${id}: the service does not know it with this key.`);
  else await forward(record, listening);
  // Only now: if this end was not forwarded, the next listener forwards it.
  await history.note(id, { status: record?.status ?? 'expired' });
}

async function endOf(id: string, { client, session, signal }: Listening) {
  const { renders, preparations } = client;
  for (;;) {
    try {
      let last: RenderRecord | PreparationRecord | null = null;
      const states =
        kindOf(id) === 'render' ? renders.watch(id, { signal }) : preparations.watch(id, { signal });
      for await (const state of states) last = state;
      return last;
    } catch (error) {
      if (isForgotten(error)) return null;
      const { retryable, message } = failureOf(error);
      if (signal.aborted || !retryable) throw error;
      session.say(`${id}: ${message} Asking again.`);
      await pause(UNREACHABLE_MS, undefined, { signal });
    }
  }
}

/** The service repeats a delivery for a day; here somebody watches, who can be told after the second attempt. */
async function forward(record: RenderRecord | PreparationRecord, listening: Listening): Promise<void> {
  const { session, to, secret, onAttempt, signal } = listening;
  const delivery = { to, secret, signal, event: eventOf(record), deliveryId: newId('dlv') };
  const first = await deliver(delivery);
  onAttempt(first);
  if (first.delivered) return;
  const seconds = Math.min(first.retry_after_seconds ?? AGAIN_SECONDS, AGAIN_SECONDS_MAX);
  session.say(`Sending it once more in ${seconds} s.`);
  await pause(seconds * 1000, undefined, { signal });
  const second = await deliver(delivery);
  onAttempt(second);
  if (!second.delivered)
    session.say(
      `${delivery.event.id} was not delivered. Send it again: webhook listen --render ${record.id}`,
    );
}
