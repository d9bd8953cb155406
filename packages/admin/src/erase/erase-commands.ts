import { createInterface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type ErasureSubject } from '@lipsync/db';
import { StorageError } from '@lipsync/storage';
import { type Command } from 'commander';
import { complain, print, type Row } from '../command-line';
import { type Connection } from '../connect';
import { applyAgain, subjectOf } from './apply-again';
import { countSubject, erase, type ErasureDeps } from './erase';
import { type ErasureRecord, listErasures, readErasure } from './erasure-list';

interface EraseOptions {
  yes?: boolean;
  json?: boolean;
}

const KINDS = [
  ['customer', 'everything of a customer: keys, work, every byte and every row'],
  ['render', 'a render with its outputs and its webhook; what it was made from stays'],
  ['asset', 'an asset with every render and preparation that was made from it'],
] as const;

export function addEraseCommands(program: Command, connection: Connection): void {
  for (const [kind, what] of KINDS) {
    const name = `${kind}s`;
    const group = program.commands.find((command) => command.name() === name) ?? program.command(name);
    if (group.description() === '') group.description(`${name} of all customers`);
    group
      .command(`erase <${kind}-id>`)
      .description(`erase ${what}. Shows what there is and asks first; may be interrupted and repeated`)
      .option('--yes', 'do not ask')
      .option('--json')
      .action((id: string, options: EraseOptions) =>
        withErasure(connection, (deps) => eraseOne(deps, kind, id, options)),
      );
  }

  const erased = program.command('erased').description('the list of what was erased, kept in the bucket');
  erased
    .command('list')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withStorage(async (storage) => {
        const rows: Row[] = [];
        for await (const record of listErasures(storage)) rows.push(row(record));
        print(rows, options);
      }),
    );
  erased
    .command('apply')
    .description('after a restore of the database: erase again whatever on the list came back')
    .option('--json')
    .action((options: { json?: boolean }) =>
      withErasure(connection, async (deps) => {
        const rows = await applyAgain(deps);
        print(rows, options);
        if (rows.some(({ left }) => left !== 'nothing')) process.exitCode = 1;
      }),
    );
}

type Deps = Omit<ErasureDeps, 'onStep'>;

/** Opens what an erasure needs. Names the rights that the store wants if it refuses. */
async function withErasure<T>(connection: Connection, action: (deps: Deps) => Promise<T>): Promise<T> {
  try {
    return await connection.withDatabase(({ db, act }) =>
      connection.withStorage((storage) =>
        connection.withQueues((queues) =>
          action({ db, storage, queues, act, wait: (ms) => pause(ms).then(() => undefined) }),
        ),
      ),
    );
  } catch (error) {
    if (!(error instanceof StorageError) || error.kind !== 'rejected') throw error;
    throw new Error(
      `the store refuses: ${error.message}. Erasing needs credentials (S3_ACCESS_KEY_ID) that allow s3:ListBucketVersions, s3:DeleteObjectVersion, s3:ListBucketMultipartUploads and s3:AbortMultipartUpload, which the services' own pair should not have. Repeat it with those`,
      { cause: error },
    );
  }
}

async function eraseOne(
  deps: Deps,
  kind: ErasureSubject['kind'],
  id: string,
  { yes = false, json = false }: EraseOptions,
): Promise<void> {
  const { db, storage } = deps;
  const earlier = await readErasure(storage, kind, id);
  const subject = await subjectOf(db, kind, id, earlier);
  if (subject === null) {
    if (earlier === null) throw new Error(`there is no ${kind} ${id}`);
    return print(row(earlier), { json });
  }
  const found = await countSubject(deps, subject);
  const { renders, preparations, assets, uploads, objects, bytes } = found;
  complain(
    `${id} has ${renders} renders, ${preparations} preparations, ${assets} assets and ${uploads} uploads; ${objects} objects with ${bytes} bytes`,
  );
  if (!yes && !(await isConfirmed(id))) throw new Error('nothing was erased');
  const onStep = (step: string): void => {
    if (!json) complain(step);
  };
  const { record, left } = await erase({ ...deps, onStep }, subject, found);
  print({ ...row(record), left: left.join('; ') || 'nothing' }, { json });
  if (left.length > 0) {
    complain(`${id} is not erased yet: ${left.join('; ')}`);
    process.exitCode = 1;
  }
}

/** Asks on a terminal for the id itself, so that nobody erases by habit. */
async function isConfirmed(id: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('there is no terminal to confirm this: repeat it with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`This cannot be undone. To erase it, type ${id}: `)).trim() === id;
  } finally {
    terminal.close();
  }
}

function row({ kind, id, state, by, begun_at, erased_at, found }: ErasureRecord): Row {
  return { kind, id, state, by, begun_at, erased_at, ...found };
}
