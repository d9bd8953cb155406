import { type Db, type ErasureSubject, findErasureSubject } from '@lipsync/db';
import { type Storage, StorageError } from '@lipsync/storage';
import { type Row } from '../command-line';
import { deleteAll, type ErasureDeps, stop, type Stopped, waitForQuiet } from './erase';
import { type ErasureRecord, listErasures } from './erasure-list';

/** What became of one that had come back. */
interface Applied extends Row {
  readonly kind: ErasureSubject['kind'];
  readonly id: string;
  /** What keeps it from being erased, in words, or `nothing`. */
  readonly left: string;
}

/**
 * Erases what is on the list and came back, or is not quite gone: stops it all, waits once, and deletes. Returns what became
 * of each that was.
 */
export async function applyAgain(deps: Omit<ErasureDeps, 'onStep'>): Promise<Applied[]> {
  const quiet = { ...deps, onStep: () => undefined };
  const rows: Applied[] = [];
  const add = ({ kind, id }: ErasureSubject, left: readonly string[]): void => {
    rows.push({ kind, id, left: left.join('; ') || 'nothing' });
  };
  const stopped: Stopped[] = [];
  for (const record of await recordsOf(deps.storage)) {
    const subject = await subjectOf(deps.db, record.kind, record.id, record);
    if (subject === null) continue;
    await stop(quiet, subject, record.found).then(
      (one) => stopped.push(one),
      (error: unknown) => add(subject, [reasonToGoOn(error)]),
    );
  }
  await waitForQuiet(quiet, stopped);
  for (const one of stopped)
    await deleteAll(quiet, one).then(
      ({ left }) => add(one.subject, left),
      (error: unknown) => add(one.subject, [reasonToGoOn(error)]),
    );
  return rows;
}

/** Why one erasure failed, so that the others go on. A lack of rights concerns all. */
function reasonToGoOn(error: unknown): string {
  if (error instanceof StorageError && error.kind === 'rejected') throw error;
  return error instanceof Error ? error.message : String(error);
}

/** All at once, because applying them writes to the list. */
async function recordsOf(storage: Storage): Promise<ErasureRecord[]> {
  const records: ErasureRecord[] = [];
  for await (const record of listErasures(storage)) records.push(record);
  return records;
}

/** Also that of an interrupted erasure whose last row is gone, and whose record does not say so yet. */
export async function subjectOf(
  db: Db,
  kind: ErasureSubject['kind'],
  id: string,
  earlier: ErasureRecord | null,
): Promise<ErasureSubject | null> {
  const subject = await findErasureSubject(db, kind, id);
  if (subject !== null || earlier === null || earlier.state === 'erased') return subject;
  return { kind, id, customerId: earlier.customer_id };
}
