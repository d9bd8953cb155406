import { Prisma } from '@lipsync/prisma';
import { type Db, type Tx } from '../postgres/db';

/**
 * What is erased: a customer with everything of it; one render; or one asset with what was made of it, since a render
 * shows the same face and says the same words.
 */
export interface ErasureSubject {
  readonly kind: 'customer' | 'render' | 'asset';
  readonly id: string;
  /** Its owner; a customer is its own. */
  readonly customerId: string;
}

/** Null if nothing of it is there (any more): neither the row nor, after an interrupted erasure, rows that it left. */
export async function findErasureSubject(
  db: Db,
  kind: ErasureSubject['kind'],
  id: string,
): Promise<ErasureSubject | null> {
  const { prisma } = db;
  const select = { customerId: true } as const;
  switch (kind) {
    case 'customer': {
      const left = await countCustomersRows(db, id);
      return Object.keys(left).length > 0 ? { kind, id, customerId: id } : null;
    }
    case 'render': {
      const render = await prisma.render.findUnique({ where: { id }, select });
      return render && { kind, id, customerId: render.customerId };
    }
    case 'asset': {
      const asset =
        (await prisma.asset.findUnique({ where: { id }, select })) ??
        (await prisma.upload.findUnique({ where: { assetId: id }, select }));
      return asset && { kind, id, customerId: asset.customerId };
    }
  }
}

export function rendersOf({ kind, id }: ErasureSubject): Prisma.RenderWhereInput {
  switch (kind) {
    case 'customer':
      return { customerId: id };
    case 'render':
      return { id };
    case 'asset':
      return { OR: [{ videoAssetId: id }, { audioAssetId: id }] };
  }
}

const NOTHING = { id: { in: [] as string[] } };

export function preparationsOf({ kind, id }: ErasureSubject): Prisma.PreparationWhereInput {
  if (kind === 'render') return NOTHING;
  return kind === 'customer' ? { customerId: id } : { videoAssetId: id };
}

export function assetsOf({ kind, id }: ErasureSubject): Prisma.AssetWhereInput {
  if (kind === 'render') return NOTHING;
  return kind === 'customer' ? { customerId: id } : { id };
}

export function uploadsOf({ kind, id }: ErasureSubject): Prisma.UploadWhereInput {
  if (kind === 'render') return NOTHING;
  return kind === 'customer' ? { customerId: id } : { assetId: id };
}

/** What operators did stays on record. It names a customer only by its id, which leads to no person. */
const KEPT_TABLES = ['audit_log'];

/** Every table with rows of customers, as the database itself knows them: one that is added later is among them. */
export async function tablesOfCustomers(tx: Tx): Promise<string[]> {
  const tables = await tx.$queryRaw<{ name: string }[]>`
    SELECT relname AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE attname = 'customer_id' AND NOT attisdropped AND relkind IN ('r', 'p')
      AND relnamespace = current_schema()::regnamespace
    ORDER BY relname`;
  return tables.map(({ name }) => name).filter((name) => !KEPT_TABLES.includes(name));
}

/** How many rows of a customer each table has; tables without any are left out. */
export async function countCustomersRows(db: Db, customerId: string): Promise<Record<string, number>> {
  const { prisma } = db;
  const counts: Record<string, number> = {};
  const own = await prisma.customer.count({ where: { id: customerId } });
  if (own > 0) counts['customers'] = own;
  for (const table of await tablesOfCustomers(prisma)) {
    const [row] = await prisma.$queryRaw<{ rows: number }[]>`
      SELECT count(*)::int AS rows FROM ${tableName(table)} WHERE customer_id = ${customerId}`;
    if (row !== undefined && row.rows > 0) counts[table] = row.rows;
  }
  return counts;
}

/** For SQL with a name out of the catalog. */
export function tableName(table: string): Prisma.Sql {
  return Prisma.raw(`"${table.replaceAll('"', '""')}"`);
}
