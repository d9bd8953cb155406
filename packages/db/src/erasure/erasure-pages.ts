import { UPLOAD_COMPLETE_GRACE_SECONDS } from '@lipsync/domain';
import { Prisma } from '@lipsync/prisma';
import { databaseNow, type Db, secondsAfter, transaction } from '../postgres/db';
import { anonymizeUsage } from '../usage/run-usage';
import {
  assetsOf,
  type ErasureSubject,
  preparationsOf,
  rendersOf,
  tableName,
  tablesOfCustomers,
  uploadsOf,
} from './subject';

/** Some of what belongs to a subject, and every place in the store where it may have objects. */
interface ErasurePage {
  readonly kind: 'render' | 'preparation' | 'asset' | 'upload';
  readonly ids: readonly string[];
  /** No prefix is that of another resource as well. */
  readonly prefixes: readonly string[];
}

/** Where objects are. */
interface ObjectPrefixes {
  readonly outputPrefix: (engineRunId: string) => string;
  readonly assetPrefix: (assetId: string) => string;
  /** The features of one video of a customer; without a digest, of all its videos. */
  readonly featurePrefix: (customerId: string, videoSha256?: string) => string;
}

/** Records per page. The more, the fewer listings of the store. */
const PAGE = 10_000;
/** Records per transaction. */
const AT_ONCE = 500;

/**
 * All that belongs to the subject, records before the assets that they show. The caller may delete the rows of a page
 * before it asks for the next.
 */
export async function* erasurePages(
  db: Db,
  subject: ErasureSubject,
  prefixes: ObjectPrefixes,
): AsyncGenerator<ErasurePage> {
  const { prisma } = db;
  const page = (afterId: string) => ({ id: { gt: afterId } });
  const order = { select: { id: true }, orderBy: { id: 'asc' }, take: PAGE } as const;

  yield* pagesOf('render', async (after) => {
    const where = { AND: [rendersOf(subject), page(after)] };
    const ids = (await prisma.render.findMany({ where, ...order })).map(({ id }) => id);
    const runs = await prisma.engineRun.findMany({ where: { renderId: { in: ids } }, select: { id: true } });
    return { ids, prefixes: runs.map(({ id }) => prefixes.outputPrefix(id)) };
  });
  yield* pagesOf('preparation', async (after) => {
    const where = { AND: [preparationsOf(subject), page(after)] };
    return {
      ids: (await prisma.preparation.findMany({ where, ...order })).map(({ id }) => id),
      prefixes: [],
    };
  });
  yield* pagesOf('upload', async (after) => {
    const where = { AND: [uploadsOf(subject), page(after)] };
    const uploads = await prisma.upload.findMany({ where, ...order, select: { id: true, stagingKey: true } });
    return { ids: uploads.map(({ id }) => id), prefixes: uploads.map(({ stagingKey }) => stagingKey) };
  });
  yield* pagesOf('asset', async (after) => {
    const where = { AND: [assetsOf(subject), page(after)] };
    const ids = (await prisma.asset.findMany({ where, ...order })).map(({ id }) => id);
    return { ids, prefixes: ids.map(prefixes.assetPrefix) };
  });
}

async function* pagesOf(
  kind: ErasurePage['kind'],
  read: (afterId: string) => Promise<Omit<ErasurePage, 'kind'>>,
): AsyncGenerator<ErasurePage> {
  for (let after = ''; ;) {
    const page = await read(after);
    const last = page.ids.at(-1);
    if (last === undefined) return;
    yield { kind, ...page };
    after = last;
  }
}

/** Deletes the rows of a page with all that depends on them. Those of uploads whose URLs still work stay. */
export async function deleteErased(db: Db, customerId: string, { kind, ids }: ErasurePage): Promise<void> {
  for (let done = 0; done < ids.length; done += AT_ONCE)
    await deleteRecords(db, customerId, kind, ids.slice(done, done + AT_ONCE));
}

function deleteRecords(
  db: Db,
  customerId: string,
  kind: ErasurePage['kind'],
  ids: readonly string[],
): Promise<void> {
  const those = { in: [...ids] };
  return transaction(db, async (tx) => {
    const deleteEvents = async (where: Prisma.WebhookEventWhereInput): Promise<void> => {
      const events = await tx.webhookEvent.findMany({ where, select: { id: true } });
      const id = { in: events.map((event) => event.id) };
      await tx.webhookDelivery.deleteMany({ where: { eventId: id } });
      await tx.webhookEvent.deleteMany({ where: { id } });
    };
    await tx.idempotencyKey.deleteMany({ where: { customerId, resourceId: those } });
    switch (kind) {
      case 'render': {
        await deleteEvents({ renderId: those });
        const runs = await tx.engineRun.findMany({ where: { renderId: those }, select: { id: true } });
        await tx.job.deleteMany({ where: { engineRunId: { in: runs.map(({ id }) => id) } } });
        await tx.engineRun.deleteMany({ where: { renderId: those } });
        await tx.render.deleteMany({ where: { id: those } });
        break;
      }
      case 'preparation':
        await deleteEvents({ preparationId: those });
        await tx.job.deleteMany({ where: { preparationId: those } });
        await tx.preparation.deleteMany({ where: { id: those } });
        break;
      case 'asset':
        await tx.job.deleteMany({ where: { assetId: those } });
        await tx.asset.deleteMany({ where: { id: those } });
        break;
      case 'upload': {
        const ended = secondsAfter(await databaseNow(tx), -UPLOAD_COMPLETE_GRACE_SECONDS);
        await tx.upload.deleteMany({ where: { id: those, expiresAt: { lte: ended } } });
      }
    }
  });
}

/** What is kept of the videos that are erased: all of a customer, or of an asset's bytes if nothing else has them. */
export interface ErasedFeatures {
  readonly prefix: string;
  readonly where: { readonly customerId: string; readonly videoSha256?: string };
}

/** Null if the subject has none, or shares all that it has with another asset of its customer. */
export async function findErasedFeatures(
  { prisma }: Db,
  { kind, id, customerId }: ErasureSubject,
  { featurePrefix }: ObjectPrefixes,
): Promise<ErasedFeatures | null> {
  if (kind === 'customer') return { prefix: featurePrefix(customerId), where: { customerId } };
  if (kind === 'render') return null;
  const asset = await prisma.asset.findUnique({ where: { id } });
  const videoSha256 = asset?.sha256 ?? null;
  if (videoSha256 === null) return null;
  const others = { customerId, sha256: videoSha256, id: { not: id }, purgedAt: null };
  if ((await prisma.asset.count({ where: others })) > 0) return null;
  return { prefix: featurePrefix(customerId, videoSha256), where: { customerId, videoSha256 } };
}

/** Deletes the rows of features whose objects are gone. */
export async function deleteFeatures({ prisma }: Db, { where }: ErasedFeatures): Promise<void> {
  await prisma.feature.deleteMany({ where });
  await prisma.featureObject.deleteMany({ where });
}

/** Rows per statement. */
const BATCH = 5_000;

/**
 * Deletes what else any table has of a customer, but neither its own row, which says that it is being erased, nor uploads
 * whose URLs still work. Usage stays, and no longer says whose it was.
 */
export async function deleteRest({ prisma }: Db, customerId: string): Promise<void> {
  for (const table of await tablesOfCustomers(prisma)) {
    if (table === 'uploads') continue;
    const name = tableName(table);
    const some = Prisma.sql`ctid = ANY(ARRAY(
      SELECT ctid FROM ${name} WHERE customer_id = ${customerId} LIMIT ${BATCH}::int))`;
    for (let changed = BATCH; changed === BATCH;)
      changed =
        table === ANONYMOUS_TABLE
          ? await anonymizeUsage(prisma, customerId, BATCH)
          : await prisma.$executeRaw`DELETE FROM ${name} WHERE ${some}`;
  }
}

/** What was used is billed, and counted for years. */
const ANONYMOUS_TABLE = 'run_usage';
