import { createTestDatabase, type TestDatabase } from '@lipsync/testkit';
import { createDb, type Db } from './db';

const NOW = new Date();

describe('a client that demands the customer', () => {
  let database: TestDatabase;
  let db: Db;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = createDb({
      url: database.url,
      poolMax: 2,
      publicBaseUrl: 'https://api.example.com',
      customerScope: true,
    });
  });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  it.each<[string, (db: Db) => Promise<unknown>]>([
    ['finds by an id alone', ({ prisma }) => prisma.render.findUnique({ where: { id: 'ren_1' } })],
    ['forgets all conditions', ({ prisma }) => prisma.asset.findMany()],
    ['has other conditions only', ({ prisma }) => prisma.asset.findMany({ where: { status: 'ready' } })],
    ['counts', ({ prisma }) => prisma.upload.count({ where: { status: 'completed' } })],
    [
      'updates',
      ({ prisma }) => prisma.job.updateMany({ where: { id: 'job_1' }, data: { customerId: 'cus_1' } }),
    ],
    ['deletes', ({ prisma }) => prisma.webhookEvent.deleteMany({ where: { id: 'evt_1' } })],
    ['reads another customer', ({ prisma }) => prisma.customer.findMany({ where: { name: 'x' } })],
    [
      'does so inside a transaction',
      ({ prisma }) => prisma.$transaction((tx) => tx.preparation.findFirst({ where: { id: 'prp_1' } })),
    ],
  ])('sends no query that %s', async (_, query) => {
    await expect(query(db)).rejects.toThrow('names no customer');
  });

  it('sends those that name it, and those on rows that belong to nobody', async () => {
    const { prisma } = db;
    const key = { key: 'k', operation: 'o', fingerprint: 'f', resourceId: 'r', expiresAt: NOW };
    await prisma.idempotencyKey.create({ data: { ...key, customerId: 'cus_1' } });
    expect(await prisma.idempotencyKey.count({ where: { customerId: 'cus_1' } })).toBe(1);
    expect(await prisma.idempotencyKey.count({ where: { customerId: { in: ['cus_2'] } } })).toBe(0);
    expect(await prisma.customer.findUnique({ where: { id: 'cus_1' } })).toBeNull();
    expect(await prisma.worker.findMany()).toEqual([]);
  });
});
