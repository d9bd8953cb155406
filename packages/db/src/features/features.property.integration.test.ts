import * as fc from 'fast-check';
import { openScenario, type Scenario } from '../../test/scenario';
import { type Claim, claimJob } from '../jobs/claim';
import { purge } from '../maintenance/purge';
import { registerObject } from './feature-objects';
import {
  beginFeature,
  covers,
  dropFeature,
  type FeatureContent,
  type FeatureKey,
  giveUpFeature,
  publishFeature,
} from './features';

/** What a worker does with its job, by index of the job. */
type Step =
  | { do: 'begin'; job: number; wanted: number }
  | { do: 'publish'; job: number; seconds: number; complete: boolean }
  | { do: 'give up' | 'die' | 'return'; job: number }
  | { do: 'add'; seconds: number }
  | { do: 'drop' }
  | { do: 'purge' };
/** What happens between two observations. */
type Turn = { at: 'once'; steps: Step[] } | { at: 'hour' } | { at: 'expiry' };

const JOBS = 3;
const job = fc.nat({ max: JOBS - 1 });
const seconds = fc.integer({ min: 1, max: 6 });
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('begin' as const), job, wanted: seconds }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('publish' as const), job, seconds, complete: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('give up' as const, 'die' as const, 'return' as const), job }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('add' as const), seconds }) },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: 'drop' }, { do: 'purge' }) },
);
const turnArbitrary: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      at: fc.constant('once' as const),
      steps: fc.array(stepArbitrary, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Turn>({ at: 'hour' }, { at: 'expiry' }) },
);

interface Worker {
  claim: Claim;
  /** Whether it was told to make the feature and has not finished. */
  making: boolean;
}

describe('feature cache under random interleavings', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  it('never has two live owners, never returns less than was asked for, references no missing object, and loses none', async () => {
    const history = fc.array(turnArbitrary, { minLength: 4, maxLength: 12 });
    const property = fc.asyncProperty(history, checkHistory);
    await fc.assert(property, { seed: 20261121, numRuns: 30, interruptAfterTimeLimit: 45_000 });
  });

  let runs = 0;
  async function checkHistory(history: Turn[]): Promise<void> {
    const key: FeatureKey = {
      customerId: scenario.customerId,
      videoSha256: (++runs).toString(16).padStart(64, '0'),
      name: 'track',
    };
    const world = {
      key,
      stored: new Set<string>(),
      workers: await Promise.all(Array.from({ length: JOBS }, newWorker)),
    };
    for (const turn of history) {
      if (turn.at === 'hour') await anHourPasses(key);
      else if (turn.at === 'expiry') {
        await expire(key);
        // The records have expired as well, so nothing that is still being made for them has a user.
        for (const worker of world.workers) worker.making = false;
      } else
        await Promise.all(Array.from({ length: JOBS + 1 }, (_, who) => performAll(turn.steps, who, world)));
      await expectSound(world);
    }
    await expire(key);
    await anHourPasses(key);
    await purgeInto(world.stored);
    expect(world.stored).toEqual(new Set());
    for (const table of ['features', 'feature_objects']) {
      const rows = `SELECT * FROM ${table} WHERE video_sha256 = $1`;
      expect(await scenario.make.query(rows, [key.videoSha256])).toEqual([]);
    }
  }

  interface World {
    key: FeatureKey;
    /** Contents whose objects are in storage. */
    stored: Set<string>;
    workers: Worker[];
  }

  async function newWorker(): Promise<Worker> {
    const { render } = await scenario.render();
    return { claim: await scenario.claim(await scenario.jobOf(render.id)), making: false };
  }

  /** Performs the steps of a job in sequence. Different jobs, and steps that belong to no job, run concurrently. */
  async function performAll(steps: readonly Step[], who: number, world: World): Promise<void> {
    for (const step of steps) if (('job' in step ? step.job : JOBS) === who) await perform(step, world);
  }

  async function perform(step: Step, { key, stored, workers }: World): Promise<void> {
    const { db, make } = scenario;
    if (step.do === 'purge') return purgeInto(stored);
    if (step.do === 'add') return void (await store(key, contentOf(step.seconds, false), null, stored));
    if (step.do === 'drop') return drop(key);
    const worker = workers[step.job];
    if (!worker) return;
    switch (step.do) {
      case 'begin': {
        const begun = await beginFeature(db, key, worker.claim, {
          wantedSeconds: step.wanted === 6 ? Infinity : step.wanted,
          expiresAt: inAnHour(),
        });
        if (begun.state === 'ready') expect(covers(begun.content, step.wanted)).toBe(true);
        if (begun.state === 'make') worker.making = true;
        return;
      }
      case 'publish':
        if (!worker.making) return;
        worker.making = false;
        return void (await store(key, contentOf(step.seconds, step.complete), worker.claim, stored));
      case 'give up':
        worker.making = false;
        return giveUpFeature(db, key, worker.claim);
      case 'die':
        return void (await make.query(
          `UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1`,
          [worker.claim.jobId],
        ));
      case 'return': {
        const { jobId } = worker.claim;
        await make.query('UPDATE jobs SET attempts = 0 WHERE id = $1', [jobId]);
        const claim = await claimJob(db, jobId, { workerId: 'w', leaseSeconds: 60 });
        if (claim) Object.assign(worker, { claim, making: false });
      }
    }
  }

  async function store(
    key: FeatureKey,
    made: FeatureContent,
    owner: Claim | null,
    stored: Set<string>,
  ): Promise<void> {
    await registerObject(scenario.db, { ...key, sha256: made.sha256 }, 1);
    stored.add(made.sha256);
    await publishFeature(scenario.db, key, made, { expiresAt: inAnHour(), owner });
  }

  async function drop(key: FeatureKey): Promise<void> {
    const [row] = await contents(key);
    if (row?.sha256) await dropFeature(scenario.db, key, row.sha256);
  }

  function purgeInto(stored: Set<string>): Promise<void> {
    return purge(scenario.db, {
      storage: {
        delete: async (keys) => keys.forEach((key) => stored.delete(key)),
        list: async function* () {},
      },
      keys: { assetPrefix: (id) => id, outputKey: (id) => id, featureKey: ({ sha256 }) => sha256 },
    }).then(({ errors }) => expect(errors).toEqual([]));
  }

  async function anHourPasses({ videoSha256 }: FeatureKey): Promise<void> {
    await scenario.make.query(
      `UPDATE feature_objects SET kept_until = kept_until - interval '1 hour' WHERE video_sha256 = $1`,
      [videoSha256],
    );
  }

  async function expire({ videoSha256 }: FeatureKey): Promise<void> {
    await scenario.make.query(
      `UPDATE features SET expires_at = now() - interval '1 second' WHERE video_sha256 = $1`,
      [videoSha256],
    );
  }

  function contents({ videoSha256 }: FeatureKey): Promise<{ sha256: string | null }[]> {
    return scenario.make.query('SELECT sha256 FROM features WHERE video_sha256 = $1', [videoSha256]);
  }

  async function expectSound({ key, stored, workers }: World): Promise<void> {
    for (const { sha256 } of await contents(key)) if (sha256 !== null) expect(stored).toContain(sha256);
    const live = await scenario.make.query<{ id: string; fence: number }>(
      `SELECT id, fence FROM jobs WHERE status = 'running' AND lease_until > clock_timestamp()`,
    );
    const isLive = ({ jobId, fence }: Claim): boolean =>
      live.some((row) => row.id === jobId && row.fence === fence);
    expect(workers.filter(({ making, claim }) => making && isLive(claim)).length).toBeLessThanOrEqual(1);
  }
});

/** The same seconds make the same bytes. */
function contentOf(seconds: number, complete: boolean): FeatureContent {
  return { sha256: `${seconds}${complete ? 'c' : 'p'}`.padEnd(64, '0'), seconds, complete };
}

function inAnHour(): Date {
  return new Date(Date.now() + 3_600_000);
}
