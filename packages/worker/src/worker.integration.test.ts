import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createQueues, type Queues } from '@lipsync/queue';
import { createLogger } from '@lipsync/runtime';
import { eventually, type RunningRedis, startRedis } from '@lipsync/testkit';
import { createWorker, type Worker, type WorkerOptions } from './worker';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('a worker and its messages', () => {
  let directory: string;
  let redis: RunningRedis;
  let queues: Queues;
  let workers: Worker[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lipsync-redis-'));
    redis = await startRedis({ dataDir: directory });
    queues = createQueues({ redisUrl: redis.url, logger });
    workers = [];
    await eventually(() => queues.ping());
  });

  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.close({ graceMs: 0 })));
    await queues.close();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function work(
    run: WorkerOptions['run'],
    { queues = ['media'], slots = 1 }: Partial<WorkerOptions> = {},
  ): Worker {
    const worker = createWorker({ redisUrl: redis.url, queues, slots, logger, run });
    workers.push(worker);
    worker.start();
    return worker;
  }

  function expectAnswer(worker: Worker): Promise<void> {
    const since = performance.now();
    return eventually(() => expect(worker.silentMs()).toBeLessThan(performance.now() - since));
  }

  /** Sends one command and returns the answer. */
  async function tellRedis(command: string): Promise<string> {
    const socket = connect(redis.port, '127.0.0.1');
    socket.write(`${command}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString();
  }

  async function kill(): Promise<void> {
    process.kill(redis.pid, 'SIGKILL');
    await eventually(async () => {
      await expect(queues.ping()).rejects.toThrow();
    });
  }

  async function restart(): Promise<void> {
    redis = await startRedis({ dataDir: directory, port: redis.port });
  }

  it('does not count as silent before it is started, since a worker may wait for its store', async () => {
    const run = () => Promise.reject(new Error('there is no message'));
    const worker = createWorker({ redisUrl: redis.url, queues: ['media'], slots: 1, logger, run });
    workers.push(worker);
    const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    expect(worker.silentMs()).toBe(0);
    now.mockRestore();
  });

  it('hears of a message at once, however long it has waited', async () => {
    const seen: string[] = [];
    const worker = work(async ({ jobId }) => void seen.push(jobId), { queues: ['media', 'other'] });
    await expectAnswer(worker);
    // The interval of looking without being told does not pass any more.
    jest.useFakeTimers({ doNotFake: ['Date', 'hrtime', 'nextTick', 'performance', 'setImmediate'] });
    try {
      for (const jobId of ['job_a', 'job_b', 'job_c']) {
        await queues.add('other', { jobId, enqueueSeq: 1 });
        await eventually(() => expect(seen.at(-1)).toBe(jobId));
      }
    } finally {
      jest.useRealTimers();
    }
  });

  it('runs a job again at its next message, and the queue knows which messages are open', async () => {
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(true);
    expect(await queues.isQueued('media', 'job_a', 2)).toBe(false);
    const seen: string[] = [];
    work(async ({ jobId }) => void seen.push(jobId));
    await eventually(async () => expect(await queues.isQueued('media', 'job_a', 1)).toBe(false));
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 2 });
    await eventually(() => expect(seen).toEqual(['job_a', 'job_a']));
  });

  it('removes the message when it is decided who has the job, not earlier: the reconciler would take it for lost', async () => {
    let decide = (): void => undefined;
    let finish = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      work(({ decided }) => {
        decide = decided;
        resolve();
        return new Promise<void>((done) => (finish = done));
      });
    });
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    await started;
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(true);
    decide();
    await eventually(async () => expect(await queues.isQueued('media', 'job_a', 1)).toBe(false));
    finish();
  });

  it('keeps a running job running when Redis dies, and takes the next one when it is back', async () => {
    const seen: string[] = [];
    let finish: () => void = () => undefined;
    let aborted = false;
    work(async ({ jobId, preempted }) => {
      seen.push(jobId);
      preempted.addEventListener('abort', () => (aborted = true));
      if (jobId === 'job_long') await new Promise<void>((done) => (finish = done));
    });
    await queues.add('media', { jobId: 'job_long', enqueueSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_long']));
    await kill();
    await restart();
    await eventually(() => queues.add('media', { jobId: 'job_next', enqueueSeq: 1 }));
    expect(aborted).toBe(false);
    finish();
    await eventually(() => expect(seen).toEqual(['job_long', 'job_next']));
  });

  it('starts working when Redis appears after both sides', async () => {
    const { port } = redis;
    await kill();
    const seen: string[] = [];
    const late = createQueues({ redisUrl: redis.url, logger });
    work(async ({ jobId }) => void seen.push(jobId));
    await expect(late.add('media', { jobId: 'job_a', enqueueSeq: 1 })).rejects.toThrow();
    redis = await startRedis({ dataDir: directory, port });
    await eventually(() => late.add('media', { jobId: 'job_a', enqueueSeq: 1 }));
    await eventually(() => expect(seen).toEqual(['job_a']));
    await late.close();
  });

  it('rejects a message while Redis hangs, instead of hanging too', async () => {
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expect(queues.add('media', { jobId: 'job_b', enqueueSeq: 1 })).rejects.toThrow('no answer');
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });

  it('drops the message of a job that cannot be run and takes the next one', async () => {
    const seen: string[] = [];
    work(async ({ jobId }) => {
      seen.push(jobId);
      if (jobId === 'job_bad') throw new Error('no');
    });
    await queues.add('media', { jobId: 'job_bad', enqueueSeq: 1 });
    await queues.add('media', { jobId: 'job_good', enqueueSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_bad', 'job_good']));
    await eventually(async () => expect(await queues.isQueued('media', 'job_bad', 1)).toBe(false));
  });

  it.each([
    ['up', async () => undefined],
    ['down', kill],
  ])(
    'waits for a running job when it closes with Redis %s, and aborts it after the grace period',
    async (_, change) => {
      const outcomes: string[] = [];
      const worker = work(async ({ preempted }) => {
        outcomes.push('started');
        await new Promise<void>((resolve) => preempted.addEventListener('abort', () => resolve()));
        outcomes.push('aborted');
      });
      await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
      await eventually(() => expect(outcomes).toEqual(['started']));
      await change();
      await worker.close({ graceMs: 50 });
      expect(outcomes).toEqual(['started', 'aborted']);
    },
  );

  it('closes while Redis hangs', async () => {
    const worker = work(async () => undefined);
    await expectAnswer(worker);
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expect(worker.close({ graceMs: 0 })).resolves.toBeUndefined();
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });

  it('closes if Redis was never reachable', async () => {
    await kill();
    const worker = work(async () => undefined);
    await expect(worker.close({ graceMs: 0 })).resolves.toBeUndefined();
  });

  it('leaves a message that arrives during closing to other workers at once', async () => {
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    const byClosing: string[] = [];
    process.kill(redis.pid, 'SIGSTOP');
    const closed = work(async ({ jobId }) => void byClosing.push(jobId)).close({ graceMs: 0 });
    process.kill(redis.pid, 'SIGCONT');
    await closed;
    const byNext: string[] = [];
    work(async ({ jobId }) => void byNext.push(jobId));
    await eventually(() => expect(byNext).toEqual(['job_a']));
    expect(byClosing).toEqual([]);
  });

  it('leaves messages without a free slot to another worker, whichever queue they are in', async () => {
    const both = { queues: ['media', 'other'] };
    let finish: () => void = () => undefined;
    const byBusy: string[] = [];
    work(({ jobId }) => {
      byBusy.push(jobId);
      return new Promise<void>((done) => (finish = done));
    }, both);
    await queues.add('media', { jobId: 'job_long', enqueueSeq: 1 });
    await eventually(() => expect(byBusy).toEqual(['job_long']));
    await queues.add('other', { jobId: 'job_a', enqueueSeq: 1 });
    await queues.add('media', { jobId: 'job_b', enqueueSeq: 1 });
    const byIdle: string[] = [];
    work(async ({ jobId }) => void byIdle.push(jobId), both);
    await eventually(() => expect(byIdle.toSorted()).toEqual(['job_a', 'job_b']));
    await queues.add('other', { jobId: 'job_c', enqueueSeq: 1 });
    await eventually(() => expect(byIdle).toContain('job_c'));
    expect(byBusy).toEqual(['job_long']);
    finish();
  });

  it('runs as many jobs at once as it has slots, over all its queues', async () => {
    const finishers: (() => void)[] = [];
    work(() => new Promise<void>((done) => void finishers.push(done)), {
      queues: ['media', 'other'],
      slots: 2,
    });
    for (const jobId of ['job_a', 'job_b', 'job_c']) {
      await queues.add('media', { jobId, enqueueSeq: 1 });
      await queues.add('other', { jobId, enqueueSeq: 1 });
    }
    for (const begun of [2, 3, 4, 5, 6]) {
      await eventually(() => expect(finishers).toHaveLength(begun));
      finishers[begun - 2]?.();
    }
    finishers.at(-1)?.();
  });

  it('takes from its queues in turn, so that a long one does not delay the others', async () => {
    for (const jobId of ['job_1', 'job_2', 'job_3']) await queues.add('media', { jobId, enqueueSeq: 1 });
    await queues.add('other', { jobId: 'job_4', enqueueSeq: 1 });
    const seen: string[] = [];
    work(async ({ queue }) => void seen.push(queue), { queues: ['media', 'other'] });
    await eventually(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual(['media', 'other', 'media', 'media']);
  });

  it('counts as alive while all slots are in use, and without queues', async () => {
    let finish: (() => void) | undefined;
    const full = work(() => new Promise<void>((done) => (finish = done)));
    const without = work(async () => undefined, { queues: [] });
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    await eventually(() => expect(finish).toBeDefined());
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expectAnswer(full);
      await expectAnswer(without);
    } finally {
      process.kill(redis.pid, 'SIGCONT');
      finish?.();
    }
  });

  it.each([
    ['is full', 'CONFIG SET maxmemory 1'],
    ['became a replica', 'REPLICAOF 127.0.0.1 1'],
  ])('counts as alive while a Redis that %s refuses every write', async (_, command) => {
    await tellRedis(command);
    const worker = work(async () => undefined);
    // The first sign may come from the connection alone.
    for (let sign = 0; sign < 3; sign += 1) await expectAnswer(worker);
  });
});
