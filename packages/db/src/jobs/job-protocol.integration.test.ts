import { only, openScenario, type Scenario } from '../../test/scenario';
import { reconcile } from '../maintenance/reconcile';
import { cancelRender } from '../renders/cancel-render';
import { getRender } from '../renders/get-render';
import { claimJob } from './claim';
import { completeRender } from './complete';
import { failJob, releaseJob, retryJob } from './fail';
import { heartbeatJob } from './heartbeat';
import { type Lease } from './job';

const result = { outputKey: 'outputs/run/1/video.mp4', usage: { output_seconds: 4, rendered_frames: 100 } };

describe('job protocol', () => {
  let scenario: Scenario;
  beforeAll(async () => {
    scenario = await openScenario();
  });
  afterAll(() => scenario.close());

  async function queuedJob(): Promise<{ renderId: string; jobId: string }> {
    const { render } = await scenario.render();
    return { renderId: render.id, jobId: await scenario.jobOf(render.id) };
  }

  /** Everything that the job may change. */
  async function snapshot(renderId: string): Promise<unknown> {
    const { db, customerId } = scenario;
    const { prisma } = db;
    return [
      await getRender(db, customerId, renderId),
      await prisma.job.findMany({ where: { engineRunId: { in: await runIds(renderId) } } }),
      await scenario.events(renderId),
    ];
  }

  async function runIds(renderId: string): Promise<string[]> {
    const runs = await scenario.db.prisma.engineRun.findMany({ where: { renderId } });
    return runs.map(({ id }) => id);
  }

  function reconcileNow(): ReturnType<typeof reconcile> {
    return reconcile(scenario.db, { isInQueue: async () => true, unservedSeconds: 1800 });
  }

  it('gives a job to exactly one of many claimers', async () => {
    const { renderId, jobId } = await queuedJob();
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        claimJob(scenario.db, jobId, { workerId: `w${i}`, leaseSeconds: 30 }),
      ),
    );
    const claim = only(claims.filter((taken) => taken !== null));
    expect(claim).toMatchObject({ jobId, kind: 'render', queue: 'musetalk', attempt: 1, fence: 1 });
    const { render, runs } = await getRender(scenario.db, scenario.customerId, renderId);
    expect(render).toMatchObject({ status: 'processing', stage: 'preparing', progressPercent: 10 });
    expect(only(runs)).toMatchObject({ status: 'processing', stage: 'loading_model' });
  });

  it('tells the claimer whose job it is, and what it serves by the id that the customer knows', async () => {
    const { customerId } = scenario;
    const { renderId, jobId } = await queuedJob();
    const engineRunId = only(await runIds(renderId));
    const none = { assetId: null, preparationId: null, engineRunId: null, renderId: null };
    expect(await scenario.claim(jobId)).toMatchObject({ ...none, customerId, engineRunId, renderId });
    const asset = await scenario.asset();
    const ingest = await scenario.claim(await scenario.ingestJob(asset.id));
    expect(ingest).toMatchObject({ ...none, customerId, assetId: asset.id });
  });

  it('tells the claimer how long the job waited, and the trace of the request that it serves', async () => {
    const traceParent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const { renderId, jobId } = await queuedJob();
    await scenario.make.query('UPDATE renders SET trace_parent = $2 WHERE id = $1', [renderId, traceParent]);
    await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '90 seconds' WHERE id = $1`, [
      jobId,
    ]);
    const claim = await scenario.claim(jobId);
    expect(claim.traceParent).toBe(traceParent);
    expect(claim.waitedSeconds).toBeGreaterThanOrEqual(90);
    await scenario.expireLease(jobId);
    const again = await scenario.claim(jobId);
    expect(again.waitedSeconds).toBeGreaterThanOrEqual(1);
    expect(again.waitedSeconds).toBeLessThan(90);
  });

  it('gives a job whose lease ran out to exactly one of many claimers, under a greater fence', async () => {
    const { jobId } = await queuedJob();
    const first = await scenario.claim(jobId);
    expect(await claimJob(scenario.db, jobId, { workerId: 'early', leaseSeconds: 30 })).toBeNull();
    await scenario.expireLease(jobId);
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        claimJob(scenario.db, jobId, { workerId: `w${i}`, leaseSeconds: 30 }),
      ),
    );
    const second = only(claims.filter((taken) => taken !== null));
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second.attempt).toBe(2);
    const lost = { jobId, workerId: 'worker', attempt: 1, fence: first.fence, outcome: 'claimed' };
    expect([first.takenFrom, second.takenFrom]).toMatchObject([null, lost]);
  });

  it('allows no write under an outdated fence', async () => {
    const { renderId, jobId } = await queuedJob();
    const stale = await scenario.claim(jobId);
    await scenario.expireLease(jobId);
    await scenario.claim(jobId);
    const before = await snapshot(renderId);
    const writes = [
      await heartbeatJob(scenario.db, stale, { leaseSeconds: 30 }),
      await heartbeatJob(scenario.db, stale, { leaseSeconds: 30, stage: 'encoding', progressPercent: 90 }),
      await completeRender(scenario.db, stale, result),
      await failJob(scenario.db, stale, 'engine_failed'),
      await releaseJob(scenario.db, stale),
      await retryJob(scenario.db, stale, {
        errorCode: 'engine_failed',
        delaySeconds: 0,
        refundAttempt: false,
      }),
    ];
    expect(writes).toEqual([false, false, false, false, false, 'lost']);
    expect(await snapshot(renderId)).toEqual(before);
  });

  it('allows no write after the reconciler has requeued the job', async () => {
    const { renderId, jobId } = await queuedJob();
    const stale = await scenario.claim(jobId);
    await scenario.expireLease(jobId);
    expect((await reconcileNow()).requeued).toBe(1);
    const before = await snapshot(renderId);
    expect(await completeRender(scenario.db, stale, result)).toBe(false);
    expect(await heartbeatJob(scenario.db, stale, { leaseSeconds: 30 })).toBe(false);
    expect(await snapshot(renderId)).toEqual(before);
  });

  it('leaves a job with the worker that sends heartbeats', async () => {
    const { jobId } = await queuedJob();
    const lease = await scenario.claim(jobId, 1);
    expect(await heartbeatJob(scenario.db, lease, { leaseSeconds: 60 })).toBe(true);
    const job = await scenario.db.prisma.job.findUniqueOrThrow({ where: { id: jobId } });
    expect(job.leaseUntil?.getTime()).toBeGreaterThan(Date.now() + 30_000);
  });

  it('refunds the attempt of a job that is handed back, and queues it at once', async () => {
    const { jobId } = await queuedJob();
    for (let round = 0; round < 5; round += 1) {
      const claim = await scenario.claim(jobId);
      expect(claim.attempt).toBe(1);
      expect(await releaseJob(scenario.db, claim)).toBe(true);
    }
    const job = await scenario.db.prisma.job.findUniqueOrThrow({ where: { id: jobId } });
    expect(job).toMatchObject({ status: 'queued', attempts: 0, enqueuedAt: null });
  });

  it('delays a postponed job, any number of times, without counting its attempts', async () => {
    const { jobId } = await queuedJob();
    const away = { errorCode: 'storage_failed', delaySeconds: 60, refundAttempt: true } as const;
    for (let time = 0; time < 4; time++) {
      const claim = await scenario.claim(jobId);
      expect(claim.attempt).toBe(1);
      expect(await retryJob(scenario.db, claim, away)).toBe('requeued');
      expect(await claimJob(scenario.db, jobId, { workerId: 'early', leaseSeconds: 30 })).toBeNull();
      await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '1 ms' WHERE id = $1`, [
        jobId,
      ]);
    }
  });

  it('delays a retry, and fails the run with the last code after the third attempt', async () => {
    const { renderId, jobId } = await queuedJob();
    const failure = { errorCode: 'engine_out_of_memory', delaySeconds: 60, refundAttempt: false } as const;
    const first = await scenario.claim(jobId);
    expect(await retryJob(scenario.db, first, failure)).toBe('requeued');
    expect(await claimJob(scenario.db, jobId, { workerId: 'early', leaseSeconds: 30 })).toBeNull();
    for (const expected of ['requeued', 'failed']) {
      await scenario.make.query(`UPDATE jobs SET available_at = now() - interval '1 ms' WHERE id = $1`, [
        jobId,
      ]);
      expect(await retryJob(scenario.db, await scenario.claim(jobId), failure)).toBe(expected);
    }
    const { render, runs } = await getRender(scenario.db, scenario.customerId, renderId);
    expect(render).toMatchObject({ status: 'failed', stage: 'failed', errorCode: 'engine_out_of_memory' });
    expect(only(runs)).toMatchObject({ status: 'failed', errorCode: 'engine_out_of_memory' });
    expect(only(await scenario.events(renderId))).toMatchObject({ type: 'render.failed', deliveries: 1 });
  });

  it('fails a job with worker_lost after its third worker is lost, with one event and without a fourth claim', async () => {
    const { renderId, jobId } = await queuedJob();
    const loseWorker = async (): Promise<void> => {
      await scenario.claim(jobId);
      await scenario.expireLease(jobId);
    };
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await loseWorker();
      expect(await reconcileNow()).toMatchObject({ requeued: 1, workerLost: 0 });
    }
    await loseWorker();
    expect(await claimJob(scenario.db, jobId, { workerId: 'fourth', leaseSeconds: 30 })).toBeNull();
    expect(await reconcileNow()).toMatchObject({ requeued: 0, workerLost: 1 });
    const { render } = await getRender(scenario.db, scenario.customerId, renderId);
    expect(render).toMatchObject({ status: 'failed', errorCode: 'worker_lost' });
    expect(only(await scenario.events(renderId)).type).toBe('render.failed');
  });

  it('shows a render and its engine as queued while a job that was handed back waits for a slot', async () => {
    const { renderId, jobId } = await queuedJob();
    const lease = await scenario.claim(jobId);
    await heartbeatJob(scenario.db, lease, { leaseSeconds: 30, stage: 'inferencing', progressPercent: 40 });
    await releaseJob(scenario.db, lease);
    const { render, runs } = await getRender(scenario.db, scenario.customerId, renderId);
    expect(render).toMatchObject({ status: 'processing', stage: 'queued', progressPercent: 53 });
    expect(only(runs)).toMatchObject({ status: 'processing', stage: 'queued', progressPercent: 40 });
  });

  it('shows a render as queued between two engines, with the progress of the first', async () => {
    const { render } = await scenario.render({ engines: ['musetalk', 'latentsync'] });
    const [first, second] = await scenario.jobs(render.id);
    const shown = async (): Promise<unknown> => {
      const { stage, progressPercent } = (await getRender(scenario.db, scenario.customerId, render.id))
        .render;
      return [stage, progressPercent];
    };
    await completeRender(scenario.db, await scenario.claim(first?.id ?? ''), result);
    expect(await shown()).toEqual(['queued', 60]);
    await scenario.claim(second?.id ?? '');
    expect(await shown()).toEqual(['rendering', 60]);
  });

  it('shows progress that never falls, whatever a retry reports', async () => {
    const { renderId, jobId } = await queuedJob();
    const seen: number[] = [];
    const beat = async (
      lease: Lease,
      stage: 'preparing' | 'inferencing' | 'uploading',
      percent: number,
    ): Promise<void> => {
      expect(
        await heartbeatJob(scenario.db, lease, { leaseSeconds: 30, stage, progressPercent: percent }),
      ).toBe(true);
      const { render, runs } = await getRender(scenario.db, scenario.customerId, renderId);
      seen.push(render.progressPercent);
      expect(only(runs).progressPercent).toBeLessThan(100);
    };
    const first = await scenario.claim(jobId);
    await beat(first, 'preparing', 50);
    await beat(first, 'inferencing', 40);
    await beat(first, 'uploading', 100);
    await scenario.expireLease(jobId);
    const second = await scenario.claim(jobId);
    await beat(second, 'preparing', 10);
    await beat(second, 'inferencing', 5);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.slice(0, 3)).toEqual([17.5, 53, 95]);
    await completeRender(scenario.db, second, result);
    const { render } = await getRender(scenario.db, scenario.customerId, renderId);
    expect(render.progressPercent).toBe(100);
  });

  it('completes a render once, with its output, usage and one event that matches what the customer sees', async () => {
    const { renderId, jobId } = await queuedJob();
    const lease = await scenario.claim(jobId);
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, () => completeRender(scenario.db, lease, result)),
    );
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const details = await getRender(scenario.db, scenario.customerId, renderId);
    expect(details.render).toMatchObject({ status: 'completed', stage: 'completed', progressPercent: 100 });
    expect(only(details.runs)).toMatchObject({ outputKey: result.outputKey, usage: result.usage });
    const event = only(await scenario.events(renderId));
    expect(event).toMatchObject({ type: 'render.completed', deliveries: 1 });
    const body = JSON.parse(event.body) as { id: string; data: Record<string, unknown> };
    expect(body.id).toBe(details.webhookEventId);
    expect(body.data).toMatchObject({
      id: renderId,
      status: 'completed',
      webhook_event_id: details.webhookEventId,
      status_url: `https://api.example.com/v1/renders/${renderId}`,
    });
  });

  it("completes a render of which one engine failed, and keeps the engine's error", async () => {
    const { render } = await scenario.render({ engines: ['musetalk', 'latentsync'] });
    const [good, bad] = await scenario.jobs(render.id);
    if (!good || !bad) throw new Error('two jobs expected');
    await failJob(scenario.db, await scenario.claim(bad.id), 'no_face_detected');
    expect((await getRender(scenario.db, scenario.customerId, render.id)).render.status).toBe('processing');
    await completeRender(scenario.db, await scenario.claim(good.id), result);
    const details = await getRender(scenario.db, scenario.customerId, render.id);
    expect(details.render).toMatchObject({ status: 'completed', errorCode: null });
    expect(details.runs.map(({ status, errorCode }) => [status, errorCode])).toEqual([
      ['completed', null],
      ['failed', 'no_face_detected'],
    ]);
    expect(only(await scenario.events(render.id)).type).toBe('render.completed');
  });

  it('ends a race between the last two engines in one state with one event', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { render } = await scenario.render({ engines: ['musetalk', 'latentsync', 'highsync'] });
      const claims = await Promise.all((await scenario.jobs(render.id)).map(({ id }) => scenario.claim(id)));
      await Promise.all(claims.map((claim) => completeRender(scenario.db, claim, result)));
      expect((await getRender(scenario.db, scenario.customerId, render.id)).render.status).toBe('completed');
      expect(only(await scenario.events(render.id)).type).toBe('render.completed');
    }
  });

  it('decides a race between cancel and complete once, with exactly one event of the matching type', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { renderId, jobId } = await queuedJob();
      const lease = await scenario.claim(jobId);
      const [completed, cancelled] = await Promise.allSettled([
        completeRender(scenario.db, lease, result),
        cancelRender(scenario.db, scenario.customerId, renderId),
      ]);
      const { render } = await getRender(scenario.db, scenario.customerId, renderId);
      const didComplete = completed.status === 'fulfilled' && completed.value;
      expect([didComplete, cancelled.status]).toEqual(
        render.status === 'completed' ? [true, 'rejected'] : [false, 'fulfilled'],
      );
      expect(['completed', 'cancelled']).toContain(render.status);
      expect(only(await scenario.events(renderId)).type).toBe(`render.${render.status}`);
    }
  });
});
