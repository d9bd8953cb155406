import { eventually } from '@lipsync/testkit';
import { only, openScenario, type Scenario } from '../../test/scenario';
import { type Claim } from '../jobs/claim';
import { failJob } from '../jobs/fail';
import { purge, type PurgeOptions, type PurgeReport } from '../maintenance/purge';
import { cancelRender } from '../renders/cancel-render';
import { registerObject } from './feature-objects';
import {
  beginFeature,
  dropFeature,
  type FeatureBegin,
  type FeatureContent,
  type FeatureKey,
  findFeature,
  giveUpFeature,
  publishFeature,
} from './features';

const HOUR_MS = 3_600_000;
const content = (digit: string, seconds: number, complete = false): FeatureContent => ({
  sha256: digit.repeat(64),
  seconds,
  complete,
});

describe('features of a video', () => {
  let scenario: Scenario;
  let expiresAt: Date;
  beforeAll(async () => {
    scenario = await openScenario();
    // By the database's clock, like the expiry of the records.
    const [{ now } = { now: new Date() }] = await scenario.make.query<{ now: Date }>('SELECT now()');
    expiresAt = new Date(now.getTime() + HOUR_MS);
  });
  afterAll(() => scenario.close());

  let videos = 0;
  const newKey = (change: Partial<FeatureKey> = {}): FeatureKey => ({
    customerId: scenario.customerId,
    videoSha256: (++videos).toString(16).padStart(64, '0'),
    name: 'track:2:analyzer',
    ...change,
  });
  async function newJob(): Promise<Claim & { renderId: string }> {
    const { render } = await scenario.render();
    return { ...(await scenario.claim(await scenario.jobOf(render.id))), renderId: render.id };
  }
  const begin = (key: FeatureKey, job: Claim, wantedSeconds = Infinity): Promise<FeatureBegin> =>
    beginFeature(scenario.db, key, job, { wantedSeconds, expiresAt });
  /** Stores and publishes a feature, as a worker does. */
  async function store(
    key: FeatureKey,
    owner: Claim | null,
    made: FeatureContent,
    until = expiresAt,
  ): Promise<boolean> {
    await registerObject(scenario.db, { ...key, sha256: made.sha256 }, 100);
    return publishFeature(scenario.db, key, made, { expiresAt: until, owner });
  }
  async function expiryOf({ videoSha256 }: FeatureKey): Promise<Date> {
    const rows = await scenario.make.query<{ expires_at: Date }>(
      'SELECT expires_at FROM features WHERE video_sha256 = $1',
      [videoSha256],
    );
    return only(rows).expires_at;
  }
  /** Moves the expiry of the feature and of its object into the past. */
  async function forgetExpiry({ videoSha256 }: FeatureKey): Promise<void> {
    for (const change of ['features SET expires_at', 'feature_objects SET kept_until'])
      await scenario.make.query(`UPDATE ${change} = now() - interval '1 second' WHERE video_sha256 = $1`, [
        videoSha256,
      ]);
  }

  describe('making a feature', () => {
    it('is given to exactly one of many concurrent jobs, and the others find the result', async () => {
      const key = newKey();
      const jobs = await Promise.all(Array.from({ length: 6 }, newJob));
      const begun = await Promise.all(jobs.map((job) => begin(key, job)));
      expect(begun.filter(({ state }) => state === 'wait')).toHaveLength(5);
      const owner = jobs[begun.findIndex(({ state }) => state === 'make')];
      if (!owner) throw new Error('nobody makes it');
      expect(await store(key, owner, content('a', 100, true))).toBe(true);
      for (const job of jobs) {
        expect(await begin(key, job)).toEqual({ state: 'ready', content: content('a', 100, true) });
      }
    });

    it('continues if its owner asks again', async () => {
      const [key, job] = [newKey(), await newJob()];
      expect(await begin(key, job)).toEqual({ state: 'make' });
      expect(await begin(key, job)).toEqual({ state: 'make' });
    });

    it('is given to another job if the lease of its owner ran out, and the old owner cannot publish', async () => {
      const [key, dead, next] = [newKey(), await newJob(), await newJob()];
      await begin(key, dead);
      expect(await begin(key, next)).toEqual({ state: 'wait' });
      await scenario.expireLease(dead.jobId);
      expect(await begin(key, next)).toEqual({ state: 'make' });
      expect(await store(key, dead, content('d', 100, true))).toBe(false);
      expect(await store(key, next, content('a', 100, true))).toBe(true);
      expect(await begin(key, next)).toMatchObject({ content: { sha256: 'a'.repeat(64) } });
    });

    it.each<[string, (job: Claim & { renderId: string }) => Promise<unknown>]>([
      ['was cancelled', (job) => cancelRender(scenario.db, scenario.customerId, job.renderId)],
      ['failed', (job) => failJob(scenario.db, job, 'engine_failed')],
      [
        'was claimed again',
        async (job) => {
          await scenario.expireLease(job.jobId);
          await scenario.claim(job.jobId);
        },
      ],
    ])('is given to another job at once if its owner %s', async (_, end) => {
      const [key, job, next] = [newKey(), await newJob(), await newJob()];
      await begin(key, job);
      await end(job);
      expect(await begin(key, next)).toEqual({ state: 'make' });
    });

    it('is given to another job at once if its owner gives up, and giving up what another job makes changes nothing', async () => {
      const [key, job, next] = [newKey(), await newJob(), await newJob()];
      await begin(key, job);
      await giveUpFeature(scenario.db, key, next);
      expect(await begin(key, next)).toEqual({ state: 'wait' });
      await giveUpFeature(scenario.db, key, job);
      expect(await begin(key, next)).toEqual({ state: 'make' });
    });

    it("neither finds nor waits for another customer's feature of the same bytes", async () => {
      const [key, job] = [newKey(), await newJob()];
      await begin(key, job);
      await store(key, job, content('a', 100, true));
      const stranger = { ...key, customerId: await scenario.make.customer() };
      expect(await findFeature(scenario.db, stranger, { wantedSeconds: 1, expiresAt })).toBeNull();
      expect(await begin(stranger, await newJob())).toEqual({ state: 'make' });
    });
  });

  describe('the coverage of a feature', () => {
    it('serves requests within it, while a longer feature is made and replaces a partial one', async () => {
      const [key, first, longer, other] = [newKey(), await newJob(), await newJob(), await newJob()];
      await begin(key, first, 50);
      await store(key, first, content('a', 60));
      expect(await begin(key, other, 60)).toMatchObject({ state: 'ready' });
      expect(await begin(key, longer, 61)).toEqual({ state: 'make' });
      expect(await begin(key, other, 60)).toMatchObject({ state: 'ready' });
      expect(await begin(key, other, 61)).toEqual({ state: 'wait' });

      expect(await store(key, longer, content('b', 90))).toBe(true);
      expect(await begin(key, other, 61)).toMatchObject({ content: content('b', 90) });
      expect(await begin(key, other, Infinity)).toEqual({ state: 'make' });
      expect(await store(key, other, content('c', 80, true))).toBe(true);
      expect(await begin(key, first, 1_000)).toMatchObject({ content: content('c', 80, true) });
    });

    it.each([
      ['fewer seconds', content('a', 60), content('b', 59)],
      ['as many seconds', content('a', 60), content('b', 60)],
      ['any number of seconds, if it is complete,', content('a', 60, true), content('b', 600)],
    ])('does not let %s replace what is there', async (_, there, made) => {
      const [key, job] = [newKey(), await newJob()];
      await store(key, null, there);
      expect(await store(key, null, made)).toBe(false);
      expect(await begin(key, job, 60)).toMatchObject({ content: there });
    });

    it('is checked by a lookup, which asks nobody to make the feature', async () => {
      const [key, job] = [newKey(), await newJob()];
      const request = { wantedSeconds: 60, expiresAt };
      expect(await findFeature(scenario.db, key, request)).toBeNull();
      await store(key, null, content('a', 60));
      expect(await findFeature(scenario.db, key, request)).toEqual(content('a', 60));
      expect(await findFeature(scenario.db, key, { ...request, wantedSeconds: Infinity })).toBeNull();
      expect(await begin(key, job)).toEqual({ state: 'make' });
    });

    it('applies to what the video makes impossible, which is found out once for the seconds examined', async () => {
      const [key, job, other] = [newKey(), await newJob(), await newJob()];
      await begin(key, job, 50);
      const fault = { errorCode: 'no_face_detected', seconds: 50, complete: false } as const;
      await publishFeature(scenario.db, key, fault, { expiresAt, owner: job });
      expect(await begin(key, other, 50)).toEqual({ state: 'impossible', errorCode: 'no_face_detected' });
      expect(await begin(key, other, 51)).toEqual({ state: 'make' });
      await store(key, other, content('a', 80));
      expect(await begin(key, job, 50)).toMatchObject({ state: 'ready' });
    });

    it('is cleared when a feature is dropped as damaged, so that it is made again, even with the same bytes', async () => {
      const [key, job] = [newKey(), await newJob()];
      await store(key, null, content('a', 60, true));
      await dropFeature(scenario.db, key, 'b'.repeat(64));
      expect(await begin(key, job)).toMatchObject({ state: 'ready' });
      await dropFeature(scenario.db, key, 'a'.repeat(64));
      expect(await begin(key, job)).toEqual({ state: 'make' });
      expect(await store(key, job, content('a', 60, true))).toBe(true);
      expect(await begin(key, job)).toMatchObject({ state: 'ready' });
    });
  });

  describe('the lifetime of a feature', () => {
    let deleted: string[];
    beforeEach(async () => {
      await run();
      deleted = [];
    });
    function run(
      remove: PurgeOptions['storage']['delete'] = async (keys) => void deleted.push(...keys),
    ): Promise<PurgeReport> {
      return purge(scenario.db, {
        storage: {
          delete: remove,
          list: async function* () {},
        },
        keys: {
          assetPrefix: (id) => id,
          outputKey: (id) => id,
          featureKey: ({ sha256 }) => sha256.slice(0, 1),
        },
      });
    }
    async function keptUntil({ videoSha256 }: FeatureKey): Promise<Date> {
      const rows = await scenario.make.query<{ kept_until: Date }>(
        'SELECT kept_until FROM feature_objects WHERE video_sha256 = $1',
        [videoSha256],
      );
      return only(rows).kept_until;
    }
    const waitedOut = ({ videoSha256 }: FeatureKey): Promise<unknown> =>
      scenario.make.query(
        `UPDATE feature_objects SET kept_until = kept_until - interval '1 hour' WHERE video_sha256 = $1`,
        [videoSha256],
      );

    const tomorrow = (): Date => new Date(expiresAt.getTime() + 24 * HOUR_MS);

    it('is that of the longest-lived record that used it, however it was found', async () => {
      const [key, job] = [newKey(), await newJob()];
      const later = (hours: number): Date => new Date(expiresAt.getTime() + hours * HOUR_MS);
      await store(key, null, content('a', 60, true));
      await findFeature(scenario.db, key, { wantedSeconds: 1, expiresAt: later(2) });
      expect(await expiryOf(key)).toEqual(later(2));
      await beginFeature(scenario.db, key, job, { wantedSeconds: 1, expiresAt: later(3) });
      expect(await expiryOf(key)).toEqual(later(3));
      await begin(key, job);
      expect(await expiryOf(key)).toEqual(later(3));
      await findFeature(scenario.db, key, { wantedSeconds: 1, expiresAt: later(1) });
      expect(await expiryOf(key)).toEqual(later(3));
    });

    it('an expired feature is not used any more, even before it is purged', async () => {
      const [key, job] = [newKey(), await newJob()];
      await store(key, null, content('a', 60, true));
      await forgetExpiry(key);
      expect(await findFeature(scenario.db, key, { wantedSeconds: 1, expiresAt })).toBeNull();
      expect(await begin(key, job)).toEqual({ state: 'make' });
    });

    it('an expired feature is purged with its object in one round', async () => {
      const key = newKey();
      await store(key, null, content('a', 60, true));
      expect(await run()).toMatchObject({ purged: 0, deletedRows: 0 });
      await forgetExpiry(key);
      expect(await run()).toMatchObject({ purged: 1, deletedRows: 1, errors: [] });
      expect(deleted).toEqual(['a']);
      expect(await run()).toMatchObject({ purged: 0, deletedRows: 0 });
    });

    it('the object of a feature that was used again is kept, and not examined before the new expiry', async () => {
      const key = newKey();
      const days = (count: number): Date => new Date(expiresAt.getTime() + count * 24 * HOUR_MS);
      await store(key, null, content('a', 60, true), days(1));
      expect(await keptUntil(key)).toEqual(days(1));
      await findFeature(scenario.db, key, { wantedSeconds: 1, expiresAt: days(2) });
      await scenario.make.query(
        `UPDATE feature_objects SET kept_until = now() - interval '1 second' WHERE video_sha256 = $1`,
        [key.videoSha256],
      );
      await run();
      expect(deleted).toEqual([]);
      expect(await keptUntil(key)).toEqual(days(2));
    });

    const storeForLong = (key: FeatureKey) => store(key, null, content('a', 60), tomorrow());

    it.each<[string, (key: FeatureKey) => Promise<unknown>]>([
      ['replaced', (key) => storeForLong(key).then(() => store(key, null, content('b', 70)))],
      ['dropped', (key) => storeForLong(key).then(() => dropFeature(scenario.db, key, 'a'.repeat(64)))],
      ['not published', (key) => registerObject(scenario.db, { ...key, sha256: 'a'.repeat(64) }, 100)],
    ])('an object that was %s stays an hour, and is then purged and no more referenced', async (_, leave) => {
      const key = newKey();
      await leave(key);
      await run();
      expect(deleted).toEqual([]);
      await waitedOut(key);
      await run();
      expect(deleted).toEqual(['a']);
      const options = { expiresAt, owner: null };
      expect(await publishFeature(scenario.db, key, content('a', 900), options)).toBe(false);
    });

    it('an object that could not be deleted comes up again', async () => {
      const key = newKey();
      await store(key, null, content('a', 60, true));
      await forgetExpiry(key);
      const failed = await run(() => Promise.reject(new Error('storage is away')));
      expect(failed).toMatchObject({ purged: 0, errors: [new Error('storage is away')] });
      await run();
      expect(deleted).toEqual(['a']);
    });

    it('a slow deletion is abandoned while the object is still locked', async () => {
      const key = newKey();
      await store(key, null, content('a', 60, true));
      await forgetExpiry(key);
      const end = new AbortController();
      const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(end.signal);
      const report = await run(async (_, { signal } = {}) => {
        end.abort(new Error('too slow'));
        signal?.throwIfAborted();
      });
      // The transaction, and its lock, would end after 30 s.
      expect(Math.max(...timeout.mock.calls.flat())).toBeLessThanOrEqual(15_000);
      timeout.mockRestore();
      expect(report).toMatchObject({ purged: 0, errors: [new Error('too slow')] });
      await run();
      expect(deleted).toEqual(['a']);
    });

    it('bytes that are registered again during the deletion of their object are written after it', async () => {
      const key = newKey();
      const object = { ...key, sha256: 'a'.repeat(64) };
      const order: string[] = [];
      await store(key, null, content('a', 60, true));
      await forgetExpiry(key);
      let announced: Promise<unknown> | undefined;
      await run(async () => {
        announced = registerObject(scenario.db, object, 100).then(() => order.push('announced'));
        await lockIsWaitedFor();
        order.push('deleted');
      });
      await announced;
      expect(order).toEqual(['deleted', 'announced']);
      expect(await publishFeature(scenario.db, key, content('a', 60, true), { expiresAt, owner: null })).toBe(
        true,
      );
    });
  });

  const lockIsWaitedFor = (): Promise<void> =>
    eventually(async () => {
      const waiting = await scenario.make.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(1);
    });
});
