import {
  type Claim,
  claimJob,
  createAsset,
  createCustomer,
  createDb,
  type Db,
  heartbeatJob,
} from '@lipsync/db';
import { createTestDatabase, eventually, TEST_ACT, type TestDatabase } from '@lipsync/testkit';
import { keepLease, type Lease } from './lease-keeper';

const HOUR_MS = 3_600_000;

describe('the lease of a claimed job', () => {
  let database: TestDatabase;
  let db: Db;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 3, publicBaseUrl: 'https://api.example.com' });
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await db.close();
    await database.drop();
  });

  async function newClaim(): Promise<Claim> {
    const { id: customerId } = await createCustomer(db, TEST_ACT, {
      name: 'A',
      sealSecret: () => new Uint8Array(1),
    });
    const url = 'https://media.example.com/a.mp4';
    const asset = await createAsset(db, { customerId, mediaType: 'video', url, ttlSeconds: 600 });
    const { id } = await db.prisma.job.findUniqueOrThrow({ where: { assetId: asset.id } });
    const claim = await claimJob(db, id, { workerId: 'w', leaseSeconds: 15 });
    if (claim === null) throw new Error('not claimed');
    return claim;
  }

  const keep = (claim: Claim, preempted: AbortSignal): Lease =>
    keepLease({
      heartbeat: (progress) =>
        heartbeatJob(db, claim, {
          leaseSeconds: 15,
          ...(progress && { stage: progress.stage, progressPercent: progress.percent }),
        }),
      leaseMs: 15_000,
      claimedAt: performance.now(),
      limit: undefined,
      preempted,
    });

  test.each([
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
  ])("is kept and renewed when the machine's date is set %s", async (_direction, step) => {
    const claim = await newClaim();
    const id = claim.jobId;
    const lease = keep(claim, new AbortController().signal);

    const leaseUntil = async () => (await db.prisma.job.findUniqueOrThrow({ where: { id } })).leaseUntil;
    const renewal = async (percent: number): Promise<void> => {
      const before = await leaseUntil();
      lease.report('downloading', percent);
      await eventually(async () => expect(await leaseUntil()).not.toEqual(before));
    };
    await renewal(1);
    const now = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + step);
    await renewal(2);
    expect(lease.signal.aborted).toBe(false);
    await lease.release();
  });
});
