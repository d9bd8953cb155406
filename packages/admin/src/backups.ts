import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate, recordAct } from '@lipsync/db';
import type { Storage } from '@lipsync/storage';
import { type Command, InvalidArgumentError, Option } from 'commander';
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

/** Not restored: callers upload again. */
const UPLOADS = 'uploads/';
/** Objects that rows name. */
const OBJECTS = ['assets/', 'features/', 'outputs/'];

export function addBackupCommands(program: Command, connection: Connection): void {
  const backup = program
    .command('backup')
    .description(
      'back up and restore the database and the bucket: for one machine whose database nothing else backs up',
    );

  backup
    .command('create')
    .description(
      'dump the database into the bucket, make the bucket keep deleted objects, and remove dumps and deleted objects older than --keep',
    )
    .addOption(
      new Option('--keep <duration>', 'how far back a restore can go')
        .argParser(duration)
        .default(8 * 86_400, '8d'),
    )
    .option('--every <duration>', 'repeat at this interval until stopped', duration)
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
    .description('dumps in the bucket, newest first')
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
      'restore the database from a dump, and the bucket as it was then. Stop the services first. Dumps the current database before it begins',
    )
    .option('--to <time>', 'use the newest dump up to this time, such as 2026-03-01T12:00:00Z', time)
    .option('--json')
    .action((options: { to?: Date; json?: boolean }) =>
      connection.withStorage(async (storage) => {
        const { to } = options;
        const databaseUrl = connection.databaseUrl();
        const dump = chosenDump(await dumps(storage), to);
        if (dump === undefined) throw new Error('there is no such dump: see backup list');
        const connected = await connectedPrograms(databaseUrl);
        if (connected.length > 0)
          throw new Error(`stop the services first; still connected: ${connected.join(', ')}`);
        const before = await dumpInto(storage, databaseUrl, OF_BEFORE);
        await withFile(async (file) => {
          await storage.getToFile(dump.key, file);
          await restoreDump(databaseUrl, file);
        });
        await migrate(databaseUrl);
        // The audit rows written since the restored dump are only in the dump of the replaced database.
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

/** Until a signal asks this process to end. A failure is reported, and the next try may succeed. */
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
    throw new InvalidArgumentError('Expected a time such as 2026-03-01T12:00:00Z.');
  return parsed;
}
