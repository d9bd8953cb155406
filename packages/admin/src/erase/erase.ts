import {
  type Act,
  type Db,
  deleteErased,
  deleteFeatures,
  deleteRest,
  endErasure,
  type ErasedFeatures,
  erasurePages,
  type ErasureSubject,
  findEndedJobs,
  findErasedFeatures,
  findLeftRows,
  findOpenUploads,
  QUEUE_NAMES,
  stopWork,
  WRITERS_SECONDS,
} from '@lipsync/db';
import { type Queues } from '@lipsync/queue';
import { assetPrefix, featurePrefix, outputPrefix, type Storage } from '@lipsync/storage';
import { type ErasureRecord, type ErasureTotals, readErasure, writeErasure } from './erasure-list';

export interface ErasureDeps {
  readonly db: Db;
  readonly storage: Storage;
  readonly queues: Queues;
  readonly act: Act;
  /** Told what has been done; the next step begins when it has returned. */
  readonly onStep: (step: string) => void;
  readonly wait: (ms: number) => Promise<void>;
}

export interface ErasureOutcome {
  readonly record: ErasureRecord;
  /** What still keeps it from being erased, in words; empty if it is. */
  readonly left: readonly string[];
}

const PREFIXES = { outputPrefix, assetPrefix, featurePrefix };

/** What belongs to the subject now, in rows and in the store. */
export async function countSubject(
  { db, storage }: Pick<ErasureDeps, 'db' | 'storage'>,
  subject: ErasureSubject,
): Promise<ErasureTotals> {
  const totals = { renders: 0, preparations: 0, assets: 0, uploads: 0, objects: 0, bytes: 0 };
  const look = async (prefixes: readonly string[]): Promise<void> => {
    const { objects, bytes } = await storage.countVersions(prefixes);
    totals.objects += objects;
    totals.bytes += bytes;
  };
  for await (const { kind, ids, prefixes } of erasurePages(db, subject, PREFIXES)) {
    totals[`${kind}s`] += ids.length;
    await look(prefixes);
  }
  const features = await findErasedFeatures(db, subject, PREFIXES);
  if (features !== null) await look([features.prefix]);
  return totals;
}

/** An erasure in which nothing new can begin and what was under way has ended, but somebody may still be storing. */
export interface Stopped {
  readonly subject: ErasureSubject;
  readonly record: ErasureRecord;
  /** Milliseconds since the start of the process, from when on nobody is at work. */
  readonly quietAtMs: number;
}

/**
 * Erases the subject. The order makes it safe to be killed anywhere and called again, and safe while work runs: what is
 * begun is on record first; then nothing new can begin, and what was under way has ended; then bytes go before the rows
 * that lead to them; then it looks again. Only if nothing is left does the record say so.
 */
export async function erase(
  deps: ErasureDeps,
  subject: ErasureSubject,
  found: ErasureTotals,
): Promise<ErasureOutcome> {
  const stopped = await stop(deps, subject, found);
  await waitForQuiet(deps, [stopped]);
  return deleteAll(deps, stopped);
}

/** The first half: what is to be erased is on record, and stopped. */
export async function stop(
  deps: ErasureDeps,
  subject: ErasureSubject,
  found: ErasureTotals,
): Promise<Stopped> {
  const { db, storage, act, onStep } = deps;
  const earlier = await readErasure(storage, subject.kind, subject.id);
  const begun = { state: 'begun', erased_at: null } as const;
  const record: ErasureRecord =
    earlier === null ? { ...newRecord(subject, act, found), ...begun } : { ...earlier, ...begun };
  await writeErasure(storage, record);
  onStep('noted in the list of erasures');

  const { writersMs, jobIds } = await stopWork(db, subject, act);
  // Which workers were at work when an earlier call was killed is no longer known.
  const quietAtMs = performance.now() + (earlier?.state === 'begun' ? WRITERS_SECONDS * 1000 : writersMs);
  onStep('work ended, keys and deliveries stopped');
  await forgetMessages(deps, subject, jobIds);
  onStep('messages removed');
  return { subject, record, quietAtMs };
}

/** Resolves when nobody is at work for any of these. */
export async function waitForQuiet({ wait }: ErasureDeps, all: readonly Stopped[]): Promise<void> {
  await wait(Math.max(0, ...all.map(({ quietAtMs }) => quietAtMs - performance.now())));
}

/** The second half: bytes, rows, and a look at what is left. */
export async function deleteAll(deps: ErasureDeps, { subject, record }: Stopped): Promise<ErasureOutcome> {
  const { db, storage, act, onStep } = deps;
  await writeErasure(storage, { ...record, state: 'stopped' });
  onStep('no worker at work');

  await eraseFeatures(deps, await findErasedFeatures(db, subject, PREFIXES));
  const incomplete = await storage.listIncompleteUploads();
  for await (const page of erasurePages(db, subject, PREFIXES)) {
    for (const upload of incomplete)
      if (page.prefixes.some((prefix) => upload.key.startsWith(prefix))) await storage.abortUpload(upload);
    await storage.eraseVersions(page.prefixes);
    onStep(`bytes of ${page.ids.length} ${page.kind}s deleted`);
    await deleteErased(db, subject.customerId, page);
    onStep(`rows of ${page.ids.length} ${page.kind}s deleted`);
  }
  if (subject.kind === 'customer') await deleteRest(db, subject.id);
  onStep('other rows deleted');

  const left = await whatIsLeft(deps, subject);
  if (left.length > 0) return { record: { ...record, state: 'stopped' }, left };
  await endErasure(db, subject, act, { ...record.found });
  onStep('nothing left');
  const erased: ErasureRecord = { ...record, state: 'erased', erased_at: new Date().toISOString() };
  await writeErasure(storage, erased);
  return { record: erased, left };
}

function newRecord(
  { kind, id, customerId }: ErasureSubject,
  { actor }: Act,
  found: ErasureTotals,
): Omit<ErasureRecord, 'state' | 'erased_at'> {
  return { kind, id, customer_id: customerId, by: actor, begun_at: new Date().toISOString(), found };
}

/** Removes what Redis has of the ended jobs, and tells the workers of those that ran. */
async function forgetMessages(
  { db, queues }: ErasureDeps,
  { customerId }: ErasureSubject,
  jobIds: readonly string[],
): Promise<void> {
  await queues.signalCancel(jobIds);
  for (const queue of QUEUE_NAMES) {
    const ended = await findEndedJobs(db, customerId, await queues.listJobs(queue));
    if (ended.length > 0) await queues.removeJobs(queue, ended);
  }
}

async function eraseFeatures(
  { db, storage, onStep }: ErasureDeps,
  features: ErasedFeatures | null,
): Promise<void> {
  if (features === null) return;
  await storage.eraseVersions([features.prefix]);
  onStep('bytes of features deleted');
  await deleteFeatures(db, features);
  onStep('rows of features deleted');
}

/** Looks again at everything that can still be looked up by the subject's id. */
async function whatIsLeft({ db, storage }: ErasureDeps, subject: ErasureSubject): Promise<string[]> {
  const { count, until } = await findOpenUploads(db, subject);
  const uploads =
    until === null
      ? []
      : [
          `${count} signed upload URLs, whose uploads may arrive until ${until.toISOString()}: erase again then`,
        ];
  const rows = Object.entries(await findLeftRows(db, subject))
    .filter(([table]) => table !== 'uploads' || count === 0)
    .map(([table, number]) => `${number} rows of ${table}`);
  const features =
    subject.kind === 'customer' ? await storage.countVersions([featurePrefix(subject.id)]) : { objects: 0 };
  return [...uploads, ...rows, ...(features.objects > 0 ? [`${features.objects} objects of features`] : [])];
}
