import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@lipsync/runtime';
import { eventually, type RunningRedis, startRedis, testPrefix } from '@lipsync/testkit';
import { Redis } from 'ioredis';
import { type Consumer, type ConsumerOptions, createConsumer } from './consumer';
import { createQueues, type Queues } from './queues';
import { connectRedis, workerOptions } from './redis-connection';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('consumer and queues', () => {
  let directory: string;
  let redis: RunningRedis;
  let queues: Queues;
  let consumers: Consumer[];
  let clients: Redis[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lipsync-redis-'));
    redis = await startRedis({ dataDir: directory });
    queues = createQueues({ redisUrl: redis.url, logger });
    consumers = [];
    clients = [];
    await eventually(() => queues.ping());
  });

  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close({ graceMs: 0 })));
    for (const client of clients) client.disconnect();
    await queues.close();
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function consume(
    process: ConsumerOptions['process'],
    { queues = ['media'], concurrency = 1 }: Partial<ConsumerOptions> = {},
  ): Consumer {
    const consumer = createConsumer({ redisUrl: redis.url, queues, concurrency, logger, process });
    consumers.push(consumer);
    consumer.start();
    return consumer;
  }

  function expectAnswer(consumer: Consumer): Promise<void> {
    const since = performance.now();
    return eventually(() => expect(consumer.silentMs()).toBeLessThan(performance.now() - since));
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
    const process = () => Promise.reject(new Error('nothing was announced'));
    const consumer = createConsumer({
      redisUrl: redis.url,
      queues: ['media'],
      concurrency: 1,
      logger,
      process,
    });
    consumers.push(consumer);
    const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000);
    expect(consumer.silentMs()).toBe(0);
    now.mockRestore();
  });

  it('hands an announced job to the consumer by its id', async () => {
    const seen: string[] = [];
    consume(async (jobId) => void seen.push(jobId));
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_a']));
  });

  it('runs a job again if it is announced again, and knows which announcements are open', async () => {
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(true);
    expect(await queues.isQueued('media', 'job_a', 2)).toBe(false);
    const seen: string[] = [];
    consume(async (jobId) => void seen.push(jobId));
    await eventually(async () => expect(await queues.isQueued('media', 'job_a', 1)).toBe(false));
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 2 });
    await eventually(() => expect(seen).toEqual(['job_a', 'job_a']));
  });

  it('counts an active job as queued', async () => {
    let finish: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      consume(() => {
        resolve();
        return new Promise<void>((done) => (finish = done));
      });
    });
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await started;
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(true);
    finish();
    await eventually(async () => expect(await queues.isQueued('media', 'job_a', 1)).toBe(false));
  });

  it('recovers without a restart after Redis was killed and lost everything', async () => {
    const seen: string[] = [];
    consume(async (jobId) => void seen.push(jobId));
    await queues.add('media', { jobId: 'job_before', dispatchSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_before']));
    await kill();
    await restart();
    await eventually(() => queues.add('media', { jobId: 'job_after', dispatchSeq: 1 }), {
      deadlineMs: 20_000,
    });
    await eventually(() => expect(seen).toEqual(['job_before', 'job_after']), { deadlineMs: 30_000 });
  }, 60_000);

  it('keeps a running job running when Redis dies, and takes the next one when it is back', async () => {
    const seen: string[] = [];
    let finish: () => void = () => undefined;
    let aborted = false;
    consume(async (jobId, signal) => {
      seen.push(jobId);
      signal.addEventListener('abort', () => (aborted = true));
      if (jobId === 'job_long') await new Promise<void>((done) => (finish = done));
    });
    await queues.add('media', { jobId: 'job_long', dispatchSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_long']));
    await kill();
    await restart();
    await eventually(() => queues.add('media', { jobId: 'job_next', dispatchSeq: 1 }), {
      deadlineMs: 20_000,
    });
    expect(aborted).toBe(false);
    finish();
    await eventually(() => expect(seen).toEqual(['job_long', 'job_next']), { deadlineMs: 30_000 });
  }, 60_000);

  it('starts working when Redis appears after both sides', async () => {
    const { port } = redis;
    await kill();
    const seen: string[] = [];
    const late = createQueues({ redisUrl: redis.url, logger });
    consume(async (jobId) => void seen.push(jobId));
    await expect(late.add('media', { jobId: 'job_a', dispatchSeq: 1 })).rejects.toThrow();
    redis = await startRedis({ dataDir: directory, port });
    await eventually(() => late.add('media', { jobId: 'job_a', dispatchSeq: 1 }), { deadlineMs: 20_000 });
    await eventually(() => expect(seen).toEqual(['job_a']), { deadlineMs: 30_000 });
    await late.close();
  }, 60_000);

  it('rejects an announcement while Redis hangs, instead of hanging too', async () => {
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expect(queues.add('media', { jobId: 'job_b', dispatchSeq: 1 })).rejects.toThrow('no answer');
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  }, 20_000);

  it('drops a failing announcement and takes the next one', async () => {
    const seen: string[] = [];
    consume(async (jobId) => {
      seen.push(jobId);
      if (jobId === 'job_bad') throw new Error('no');
    });
    await queues.add('media', { jobId: 'job_bad', dispatchSeq: 1 });
    await queues.add('media', { jobId: 'job_good', dispatchSeq: 1 });
    await eventually(() => expect(seen).toEqual(['job_bad', 'job_good']));
    await eventually(async () => expect(await queues.isQueued('media', 'job_bad', 1)).toBe(false));
  });

  it('waits for a running job when it closes, and aborts it after the grace period', async () => {
    const outcomes: string[] = [];
    const consumer = consume(async (_jobId, signal) => {
      outcomes.push('started');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      outcomes.push('aborted');
    });
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await eventually(() => expect(outcomes).toEqual(['started']));
    await consumer.close({ graceMs: 50 });
    expect(outcomes).toEqual(['started', 'aborted']);
  });

  it('closes while Redis is down, once the running job has returned', async () => {
    const outcomes: string[] = [];
    const consumer = consume(async (_jobId, signal) => {
      outcomes.push('started');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      outcomes.push('aborted');
    });
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await eventually(() => expect(outcomes).toEqual(['started']));
    await kill();
    await consumer.close({ graceMs: 50 });
    expect(outcomes).toEqual(['started', 'aborted']);
  });

  it('closes while Redis hangs', async () => {
    const consumer = consume(async () => undefined);
    await expectAnswer(consumer);
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expect(consumer.close({ graceMs: 0 })).resolves.toBeUndefined();
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  });

  it('closes if Redis was never reachable', async () => {
    await kill();
    const consumer = consume(async () => undefined);
    await expect(consumer.close({ graceMs: 0 })).resolves.toBeUndefined();
  });

  it('leaves an announcement that arrives during closing to other consumers at once', async () => {
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    const byClosing: string[] = [];
    process.kill(redis.pid, 'SIGSTOP');
    const closed = consume(async (jobId) => void byClosing.push(jobId)).close({ graceMs: 0 });
    process.kill(redis.pid, 'SIGCONT');
    await closed;
    const byNext: string[] = [];
    consume(async (jobId) => void byNext.push(jobId));
    await eventually(() => expect(byNext).toEqual(['job_a']));
    expect(byClosing).toEqual([]);
  });

  it('leaves announcements without a free slot to another consumer, whichever queue they are in', async () => {
    const both = { queues: ['media', 'other'] };
    let finish: () => void = () => undefined;
    const byBusy: string[] = [];
    consume((jobId) => {
      byBusy.push(jobId);
      return new Promise<void>((done) => (finish = done));
    }, both);
    await queues.add('media', { jobId: 'job_long', dispatchSeq: 1 });
    await eventually(() => expect(byBusy).toEqual(['job_long']));
    await queues.add('other', { jobId: 'job_a', dispatchSeq: 1 });
    await queues.add('media', { jobId: 'job_b', dispatchSeq: 1 });
    const byIdle: string[] = [];
    consume(async (jobId) => void byIdle.push(jobId), both);
    await eventually(() => expect(byIdle.toSorted()).toEqual(['job_a', 'job_b']));
    await queues.add('other', { jobId: 'job_c', dispatchSeq: 1 });
    await eventually(() => expect(byIdle).toContain('job_c'));
    expect(byBusy).toEqual(['job_long']);
    finish();
  });

  it('runs as many jobs at once as its concurrency allows, over all its queues', async () => {
    const finishers: (() => void)[] = [];
    consume(() => new Promise<void>((done) => void finishers.push(done)), {
      queues: ['media', 'other'],
      concurrency: 2,
    });
    for (const jobId of ['job_a', 'job_b', 'job_c']) {
      await queues.add('media', { jobId, dispatchSeq: 1 });
      await queues.add('other', { jobId, dispatchSeq: 1 });
    }
    for (const begun of [2, 3, 4, 5, 6]) {
      await eventually(() => expect(finishers).toHaveLength(begun));
      finishers[begun - 2]?.();
    }
    finishers.at(-1)?.();
  });

  it('takes from its queues in turn, so that a long one does not delay the others', async () => {
    for (const jobId of ['job_1', 'job_2', 'job_3']) await queues.add('media', { jobId, dispatchSeq: 1 });
    await queues.add('other', { jobId: 'job_4', dispatchSeq: 1 });
    const seen: string[] = [];
    consume(async (_jobId, _signal, queue) => void seen.push(queue), { queues: ['media', 'other'] });
    await eventually(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual(['media', 'other', 'media', 'media']);
  });

  it('counts as alive while all slots are in use, and without queues', async () => {
    let finish: (() => void) | undefined;
    const full = consume(() => new Promise<void>((done) => (finish = done)));
    const without = consume(async () => undefined, { queues: [] });
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
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
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1']],
    ['became a replica', ['REPLICAOF', '127.0.0.1', '1']],
  ])('counts as alive while a Redis that %s refuses every write', async (_, [command = '', ...args]) => {
    const client = new Redis(redis.url);
    await client.call(command, ...args);
    client.disconnect();
    const consumer = consume(async () => undefined);
    // The first sign may come from the connection alone.
    for (let sign = 0; sign < 3; sign += 1) await expectAnswer(consumer);
  });

  it('repeats for a worker what a Redis refused that had become a replica, once it is a primary again', async () => {
    const worker = connectRedis(redis.url, workerOptions(), { logger, name: 'worker' });
    const client = new Redis(redis.url);
    clients.push(worker, client);
    await worker.ping();
    await client.call('REPLICAOF', '127.0.0.1', '1');
    const writing = worker.set('key', 'value');
    await eventually(async () => expect(await client.info('errorstats')).toContain('READONLY'));
    await client.call('REPLICAOF', 'NO', 'ONE');
    expect(await writing).toBe('OK');
  });

  it('reports activity while it waits for work', async () => {
    const consumer = consume(async () => undefined);
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await expectAnswer(consumer);
  });

  it('keeps queues with different prefixes apart', async () => {
    const other = createQueues({ redisUrl: redis.url, logger, prefix: testPrefix() });
    await eventually(() => other.add('media', { jobId: 'job_a', dispatchSeq: 1 }));
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(false);
    await other.close();
  });
});
