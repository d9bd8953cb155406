import { type Engine, type ErrorCode } from '@lipsync/contract';
import * as fc from 'fast-check';
import { usageAndRuns } from '../../test/expected-usage';
import { openScenario, type Scenario } from '../../test/scenario';
import { reconcile } from '../maintenance/reconcile';
import { cancelRender } from '../renders/cancel-render';
import { getRender, type RenderDetails } from '../renders/get-render';
import { claimJob } from './claim';
import { completeRender } from './complete';
import { failJob, releaseJob, retryJob } from './fail';
import { heartbeatJob } from './heartbeat';
import { type Lease } from './job';

/**
 * What can happen to the job at index `job` (modulo their number). `held` picks one of all leases ever granted for it.
 */
type Step =
  | { do: 'claim' | 'expire' | 'release'; job: number; held: number }
  | { do: 'complete'; job: number; held: number; seconds: number }
  | { do: 'heartbeat'; job: number; held: number; percent: number }
  | { do: 'retry' | 'fail'; job: number; held: number; code: ErrorCode }
  | { do: 'cancel' }
  | { do: 'reconcile' };

const ENGINES: Engine[] = ['musetalk', 'latentsync', 'highsync'];
const job = fc.nat({ max: 2 });
const held = fc.nat({ max: 3 });
const code = fc.constantFrom<ErrorCode>('engine_failed', 'engine_timeout', 'no_face_detected');
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), job, held }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('expire' as const, 'release' as const), job, held }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('complete' as const), job, held, seconds: fc.nat({ max: 600 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('heartbeat' as const), job, held, percent: fc.nat({ max: 100 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('retry' as const, 'fail' as const), job, held, code }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'cancel' }, { do: 'reconcile' }) },
);
/** The steps of one batch run concurrently. */
const historyArbitrary = fc.array(fc.array(stepArbitrary, { minLength: 1, maxLength: 4 }), {
  minLength: 4,
  maxLength: 14,
});

const TERMINAL = ['completed', 'failed', 'cancelled'];

describe('job protocol under random interleavings', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  it('ends every render in one state with one matching event, never moves back, counts no attempt twice, and keeps the usage of every ended run once', async () => {
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), historyArbitrary, checkHistory);
    await fc.assert(property, { seed: 20250901, numRuns: 25, interruptAfterTimeLimit: 45_000 });
  });

  async function checkHistory(engines: number, history: Step[][]): Promise<void> {
    const { render } = await scenario.render({ engines: ENGINES.slice(0, engines) });
    const jobs = (await scenario.jobs(render.id)).map(({ id }) => id);
    const world = { renderId: render.id, jobs, leases: new Map<string, Lease[]>() };
    let before = await look(world.renderId);
    for (const batch of history) {
      await Promise.all(batch.map((step) => perform(step, world)));
      const after = await look(world.renderId);
      expectNoStepBack(before, after);
      expect(await newerThanTheirRender(world.renderId)).toEqual([]);
      await expectOneEventIfTerminal(after);
      await expectUsageOfEndedRuns(world.renderId);
      before = after;
    }
    await runToTheEnd(world);
    const end = await look(world.renderId);
    expectNoStepBack(before, end);
    expect(TERMINAL).toContain(end.render.status);
    await expectOneEventIfTerminal(end);
    await expectUsageOfEndedRuns(world.renderId);
    for (const state of await scenario.jobs(world.renderId)) {
      expect(state.status).toBe('finished');
      expect(state.attempts).toBeLessThanOrEqual(3);
    }
  }

  interface World {
    renderId: string;
    jobs: string[];
    leases: Map<string, Lease[]>;
  }

  async function perform(step: Step, world: World): Promise<void> {
    const { db, customerId } = scenario;
    if (step.do === 'cancel')
      return void (await cancelRender(db, customerId, world.renderId).catch(() => undefined));
    if (step.do === 'reconcile')
      return void (await reconcile(db, { isInQueue: async () => true, unservedSeconds: 1800 }));
    const jobId = world.jobs[step.job % world.jobs.length] ?? '';
    if (step.do === 'claim') return claim(jobId, world);
    if (step.do === 'expire')
      return scenario.make
        .query(
          `UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1 AND status = 'running'`,
          [jobId],
        )
        .then(() => undefined);
    const leases = world.leases.get(jobId) ?? [];
    const lease = leases[step.held % Math.max(1, leases.length)];
    if (lease) await write(step, lease);
  }

  async function claim(jobId: string, world: World): Promise<void> {
    const taken = await claimJob(scenario.db, jobId, { workerId: 'w', leaseSeconds: 60 });
    if (!taken) return;
    const earlier = world.leases.get(jobId) ?? [];
    // No two claims of a job ever share a fence.
    expect(earlier.map(({ fence }) => fence)).not.toContain(taken.fence);
    world.leases.set(jobId, [...earlier, taken]);
  }

  async function write(
    step: Exclude<Step, { do: 'cancel' } | { do: 'reconcile' }>,
    lease: Lease,
  ): Promise<void> {
    const { db } = scenario;
    switch (step.do) {
      case 'heartbeat':
        await heartbeatJob(db, lease, {
          leaseSeconds: 60,
          stage: 'inferencing',
          progressPercent: step.percent,
        });
        return;
      case 'complete':
        await completeRender(db, lease, {
          outputKey: `outputs/${lease.jobId}/${lease.fence}`,
          // Each attempt measures something else: usage must be that of the one that counted.
          usage: { output_seconds: step.seconds, rendered_frames: lease.fence, gpu_inference_seconds: null },
        });
        return;
      case 'release':
        await releaseJob(db, lease);
        return;
      case 'retry':
        await retryJob(db, lease, { errorCode: step.code, delaySeconds: 0, refundAttempt: false });
        return;
      case 'fail':
        await failJob(db, lease, step.code);
        return;
      case 'claim':
      case 'expire':
    }
  }

  /** Lets the system run undisturbed: workers claim what is available and complete it. */
  async function runToTheEnd(world: World): Promise<void> {
    await scenario.make.query(
      `UPDATE jobs SET lease_until = now() - interval '1 second' WHERE status = 'running' AND id = ANY($1)`,
      [world.jobs],
    );
    await reconcile(scenario.db, { isInQueue: async () => true, unservedSeconds: 1800 });
    for (const jobId of world.jobs) {
      await claim(jobId, world);
      const lease = world.leases.get(jobId)?.at(-1);
      if (lease)
        await completeRender(scenario.db, lease, { outputKey: `outputs/${jobId}/${lease.fence}`, usage: {} });
    }
  }

  function look(renderId: string): Promise<RenderDetails> {
    return getRender(scenario.db, scenario.customerId, renderId);
  }

  /** Runs newer than their render: changes that a caller which polls for a new `updated_at` would miss. */
  function newerThanTheirRender(renderId: string): Promise<object[]> {
    return scenario.make.query(
      `SELECT engine, engine_runs.stage FROM engine_runs JOIN renders ON renders.id = render_id
       WHERE render_id = $1 AND engine_runs.updated_at > renders.updated_at`,
      [renderId],
    );
  }

  function expectNoStepBack(before: RenderDetails, after: RenderDetails): void {
    if (TERMINAL.includes(before.render.status)) expect(after).toEqual(before);
    expect(after.render.progressPercent).toBeGreaterThanOrEqual(before.render.progressPercent);
    expect(after.render.updatedAt.getTime()).toBeGreaterThanOrEqual(before.render.updatedAt.getTime());
    for (const [index, run] of after.runs.entries()) {
      const earlier = before.runs[index];
      if (!earlier) throw new Error('a run appeared');
      expect(run.progressPercent).toBeGreaterThanOrEqual(earlier.progressPercent);
      if (TERMINAL.includes(earlier.status)) expect(run).toEqual(earlier);
    }
  }

  async function expectUsageOfEndedRuns(renderId: string): Promise<void> {
    const { expected, actual } = await usageAndRuns(scenario.db, renderId);
    expect(actual).toEqual(expected);
  }

  async function expectOneEventIfTerminal({ render, runs }: RenderDetails): Promise<void> {
    const events = await scenario.events(render.id);
    if (!TERMINAL.includes(render.status)) return expect(events).toEqual([]);
    expect(events).toMatchObject([{ type: `render.${render.status}`, deliveries: 1 }]);
    expect(JSON.parse(events[0]?.body ?? '')).toMatchObject({ data: { status: render.status } });
    const jobs = await scenario.jobs(render.id);
    for (const [index, run] of runs.entries()) {
      const finished = jobs[index];
      if (run.status !== 'completed' || !finished) continue;
      // Finishing raises the fence once more. The output is that of the last claim.
      expect(run.outputKey).toBe(`outputs/${finished.id}/${finished.fence - 1}`);
    }
  }
});
