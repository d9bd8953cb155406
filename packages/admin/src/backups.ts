import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate, recordAct } from '@lipsync/db';
import type { Storage } from '@lipsync/storage';
import { type Command, InvalidArgumentError } from 'commander';
import { complain, duration, print, type Row } from './command-line';
import type { Connection } from './connect';
import { connectedPrograms, restoreDump, writeDump } from './postgres-dump';

const PREFIX = 'backups/';
const OF_BEFORE = '.before-restore';
const DUMP_NAME = /^backups\/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(\.before-restore)?\.dump$/;

interface Dump {
  readonly key: string;
  readonly takenAt: Date;
  /** Whether it shows the database that a restore replaced, perhaps half of it: used only if its exact time is named. */
  readonly isOfBefore: boolean;
}

/** Not restored: whoever was uploading does it again. */
const UPLOADS = 'uploads/';
/** What rows name. */
const OBJECTS = ['assets/', 'features/', 'outputs/'];

export function addBackupCommands(program: Command, connection: Connection): void {
  const backup = program
    .command('backup')
    .description(
      'the database in the bucket, and both as they were: for one machine, without a database that others back up',
    );

  backup
    .command('create')
    .description(
      'dump the database into the bucket, have the bucket keep what is deleted, and forget dumps and deleted objects that are older than --keep',
    )
    .option('--keep <duration>', 'how far back a restore can go', duration, 8 * 86_400)
    .option('--every <duration>', 'again and again, until it is stopped', duration)
    .option('--json')
    .action(async ({ keep, every, json }: { keep: number; every?: number; json?: boolean }) => {
      const create = () =>
        connection.withStorage(async (storage) =>
          print(await backUp(storage, connection.databaseUrl(), keep), { json }),
        );
      await (every === undefined ? create() : repeat(create, every));
    });

  backup
    .command('list')
    .description('the dumps in the bucket, the newest first')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withStorage(async (storage) =>
        print(
          (await dumps(storage)).map(({ key, takenAt }) => ({ taken_at: takenAt, key })),
          options,
        ),
      ),
    );

  backup
    .command('restore')
    .description(
      'the database as a dump has it, and the bucket as it was then; services must be stopped. Dumps the database of now first',
    )
    .option('--to <time>', 'the newest dump until this time, as 2026-03-01T12:00:00Z', time)
    .option('--json')
    .action((options: { to?: Date; json?: boolean }) =>
      connection.withStorage(async (storage) => {
        const { to } = options;
        const databaseUrl = connection.databaseUrl();
        const dump = chosenDump(await dumps(storage), to);
        if (dump === undefined) throw new Error('there is no dump that old');
        const connected = await connectedPrograms(databaseUrl);
        if (connected.length > 0)
          throw new Error(`stop the services first: still connected are ${connected.join(', ')}`);
        const before = await dumpInto(storage, databaseUrl, OF_BEFORE);
        await withFile(async (file) => {
          await storage.getToFile(dump.key, file);
          await restoreDump(databaseUrl, file);
        });
        await migrate(databaseUrl);
        // What is on record since the dump is in the dump of before.
        await connection.withDatabase(({ db, act }) =>
          recordAct(db, db.prisma, act, {
            details: { restored_to: dump.takenAt.toISOString(), dump_of_before: before.key },
          }),
        );
        await storage.eraseVersions([UPLOADS]);
        const counts = { objects_restored: 0, objects_hidden: 0 };
        for (const prefix of OBJECTS) {
          const { restored, hidden } = await storage.returnTo(prefix, dump.takenAt);
          counts.objects_restored += restored;
          counts.objects_hidden += hidden;
        }
        print({ restored_to: dump.takenAt, dump_of_before: before.key, ...counts }, options);
      }),
    );
}

async function backUp(storage: Storage, databaseUrl: string, keepSeconds: number): Promise<Row> {
  await storage.keepVersions();
  const { takenAt, key } = await dumpInto(storage, databaseUrl);
  const until = new Date(takenAt.getTime() - keepSeconds * 1000);
  const outdated = (await dumps(storage)).slice(1).filter((dump) => dump.takenAt < until);
  await storage.delete(outdated.map(({ key }) => key));
  const forgotten = await storage.forgetVersions(until);
  return { dump: key, forgotten_dumps: outdated.length, forgotten_versions: forgotten };
}

/** Until a signal asks this process to end. A time that fails is complained about, and the next may succeed. */
async function repeat(work: () => Promise<void>, everySeconds: number): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  while (!stopping.signal.aborted) {
    await work().catch((error: unknown) => complain(error instanceof Error ? error.message : String(error)));
    await delay(everySeconds * 1000, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}

async function dumpInto(
  storage: Storage,
  databaseUrl: string,
  kind = '',
): Promise<Pick<Dump, 'key' | 'takenAt'>> {
  const takenAt = new Date();
  const key = `${PREFIX}${inSeconds(takenAt)}${kind}.dump`;
  await withFile(async (file) => {
    await writeDump(databaseUrl, file);
    await storage.put(key, { file }, { contentType: 'application/octet-stream' });
  });
  return { key, takenAt };
}

const inSeconds = (at: Date): string => at.toISOString().replace(/\.\d+/, '');

/** The newest dump until a time. A dump from before a restore counts only at its exact time. */
function chosenDump(all: readonly Dump[], to: Date | undefined): Dump | undefined {
  return (
    all.find(({ takenAt, isOfBefore }) => isOfBefore && takenAt.getTime() === to?.getTime()) ??
    all.find(({ takenAt, isOfBefore }) => !isOfBefore && (to === undefined || takenAt <= to))
  );
}

/** The newest first. */
async function dumps(storage: Storage): Promise<Dump[]> {
  const found: Dump[] = [];
  for await (const key of storage.list(PREFIX)) {
    const [, text, kind] = DUMP_NAME.exec(key) ?? [];
    if (text !== undefined) found.push({ key, takenAt: new Date(text), isOfBefore: kind === OF_BEFORE });
  }
  return found.reverse();
}

/** Runs `action` with the path of a file that is deleted afterwards. */
async function withFile<T>(action: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'backup-'));
  try {
    return await action(join(folder, 'database.dump'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function time(value: string): Date {
  const parsed = new Date(value);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) || Number.isNaN(parsed.getTime()))
    throw new InvalidArgumentError('a time as 2026-03-01T12:00:00Z');
  return parsed;
}
