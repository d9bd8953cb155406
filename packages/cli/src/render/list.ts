import path from 'node:path';
import type { LipSync } from '@lipsync/client';
import type { Command } from 'commander';
import { count } from '../choices';
import { isForgotten } from '../failures/failures';
import { kindOf } from '../ids';
import { hasEnded, type History, type Made } from '../session/history';
import type { Session } from '../session/session';
import { fetchResource } from './resources';

const SHOWN = 20;
/** The service limits how often it is asked. */
const AT_ONCE = 8;

export function addListCommand(program: Command, session: Session): void {
  program
    .command('list')
    .description(
      'list what you made on this machine with your key; asks the service about the unfinished ones',
    )
    .option('-n, --last <count>', `how many, newest first; default: ${SHOWN}`, count)
    .option('--refresh', 'ask the service about all that are shown')
    .option('--forget [ids...]', 'forget these, or all, on this machine; the service keeps them')
    .action(async ({ last = SHOWN, refresh = false, forget }: ListOptions) => {
      const history = await session.history();
      if (forget !== undefined) {
        const known = await history.ids();
        const ids = forget === true ? known : forget.filter((id) => kindOf(id) && known.includes(id));
        await history.forget(ids);
        session.answer({ forgotten: ids }, [`Forgot ${ids.length}. The service keeps them.`]);
        return;
      }
      const made = await history.all();
      const shown = made.slice(0, last);
      const stale = shown.filter((one) => refresh || !hasEnded(one));
      // What is known is shown also if the service cannot be asked.
      const failure = await update(stale, history, session).catch((error: unknown) => ({ error }));
      session.answer(shown, shown.map(describe));
      if (failure !== undefined) throw failure.error;
      if (made.length === 0) session.say('Nothing yet: lipsync render VIDEO VOICE');
      if (made.length > last)
        session.say(`There are ${made.length - last} more: lipsync list -n ${made.length}`);
    });
}

interface ListOptions {
  last?: number;
  refresh?: boolean;
  forget?: true | string[];
}

async function update(made: readonly Made[], history: History, session: Session): Promise<undefined> {
  if (made.length === 0) return;
  const client = await session.client({ maxRetries: 1 });
  const left = [...made];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      one.status = (await stateOf(one.id, client, session.interrupted)) ?? one.status;
      await history.note(one.id, { status: one.status });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The service's word, or `expired` when it has forgotten it. */
async function stateOf(id: string, client: LipSync, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await fetchResource(id, client, signal)).status;
  } catch (error) {
    if (isForgotten(error)) return 'expired';
    throw error;
  }
}

/** `2026-01-31 09:05  completed   ren_…  musetalk  face.mp4 + voice.wav → face.musetalk.mp4` */
function describe({ id, created_at, status, inputs, engines, files }: Made): string {
  const when = new Date(created_at).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' });
  const what = [engines.join(', '), inputs.map((input) => path.basename(input)).join(' + ')].filter(Boolean);
  const results = files.length === 0 ? '' : ` → ${files.map(fromHere).join(', ')}`;
  return `${when}  ${status.padEnd(10)}  ${id}  ${what.join('  ')}${results}`;
}

function fromHere(file: string): string {
  const relative = path.relative('.', file);
  return relative.startsWith('..') ? file : relative;
}
