import { type ErasureSubject } from '@lipsync/db';
import { ERASED_PREFIX, erasedKey, type Storage, StorageError } from '@lipsync/storage';

/** How much there was. */
export interface ErasureTotals {
  readonly renders: number;
  readonly preparations: number;
  readonly assets: number;
  readonly uploads: number;
  /** Versions of objects, those included that were hidden. */
  readonly objects: number;
  readonly bytes: number;
}

/**
 * An erasure on record: ids, numbers and the operator. It lies in the bucket, which no restore of the database changes, and
 * is written before anything is touched, so that what was begun is found again.
 */
export interface ErasureRecord {
  readonly kind: ErasureSubject['kind'];
  readonly id: string;
  readonly customer_id: string;
  /** `stopped`: nobody can store or send anything for it any more. `erased`: looked through, and nothing was left. */
  readonly state: 'begun' | 'stopped' | 'erased';
  readonly by: string;
  readonly begun_at: string;
  readonly erased_at: string | null;
  /** What was there when it was begun. */
  readonly found: ErasureTotals;
}

export async function writeErasure(storage: Storage, record: ErasureRecord): Promise<void> {
  const json = JSON.stringify(record, null, 2);
  const key = erasedKey(record.kind, record.id);
  await storage.put(key, Buffer.from(json), { contentType: 'application/json' });
}

/** Null if its erasure was never begun. */
export function readErasure(
  storage: Storage,
  kind: ErasureSubject['kind'],
  id: string,
): Promise<ErasureRecord | null> {
  return readRecord(storage, erasedKey(kind, id));
}

/** All erasures that were ever begun. */
export async function* listErasures(storage: Storage): AsyncGenerator<ErasureRecord> {
  for await (const key of storage.list(ERASED_PREFIX)) {
    const record = await readRecord(storage, key);
    if (record !== null) yield record;
  }
}

async function readRecord(storage: Storage, key: string): Promise<ErasureRecord | null> {
  try {
    // Only `writeErasure` writes there.
    return JSON.parse((await storage.getBuffer(key)).toString('utf8')) as ErasureRecord;
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'not_found') return null;
    throw error;
  }
}
