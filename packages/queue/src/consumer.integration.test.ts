import { createLogger } from '@lipsync/runtime';
import { Redis } from 'ioredis';
import { eventually, type RunningRedis, startRedis, testPrefix } from '@lipsync/testkit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Consumer, type ConsumerOptions, createConsumer } from './consumer';
import { createQueues, type Queues } from './queues';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('consumer and queues', () => {
  let directory: string;
  let redis: RunningRedis;
  let queues: Queues;
  let consumers: Consumer[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lipsync-redis-'));
    redis = await startRedis({ dataDir: directory });
    queues = createQueues({ redisUrl: redis.url, logger });
    consumers = [];
    await eventually(() => queues.ping());
  });

  afterEach(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close({ graceMs: 0 })));
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

  it('is not called silent before it is started: a worker may wait for its store', async () => {
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

  it('runs a job again that is announced again, and knows which announcements are open', async () => {
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(true);
    expect(await queues.isQueued('media', 'job_a', 2)).toBe(false);
    const seen: string[] = [];
    consume(async (jobId) => void seen.push(jobId));
    await eventually(async () => expect(await queues.isQueued('media', 'job_a', 1)).toBe(false));
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 2 });
    await eventually(() => expect(seen).toEqual(['job_a', 'job_a']));
  });

  it('counts a job that is being worked on as queued', async () => {
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

  it('goes on after Redis was killed and lost everything, without being restarted', async () => {
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

  it('works once Redis comes up when both sides were started without it', async () => {
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

  it('refuses to announce while Redis hangs instead of hanging with it', async () => {
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    process.kill(redis.pid, 'SIGSTOP');
    try {
      await expect(queues.add('media', { jobId: 'job_b', dispatchSeq: 1 })).rejects.toThrow('no answer');
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
  }, 20_000);

  it('drops a failing announcement and takes the next', async () => {
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

  it('waits for a running job when it closes, and aborts it when the grace is over', async () => {
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

  it('closes while Redis is away, once the running job has returned', async () => {
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

  it('closes when Redis was never there', async () => {
    await kill();
    const consumer = consume(async () => undefined);
    await expect(consumer.close({ graceMs: 0 })).resolves.toBeUndefined();
  });

  it('leaves to others at once what reaches it while it closes', async () => {
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

  it('leaves what it has no hand free for to another consumer, whichever queue it is in', async () => {
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

  it('works on as many jobs at once as it has hands, over all its queues', async () => {
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

  it('asks its queues in turn, so that a long one does not keep the others waiting', async () => {
    for (const jobId of ['job_1', 'job_2', 'job_3']) await queues.add('media', { jobId, dispatchSeq: 1 });
    await queues.add('other', { jobId: 'job_4', dispatchSeq: 1 });
    const seen: string[] = [];
    consume(async (_jobId, _signal, queue) => void seen.push(queue), { queues: ['media', 'other'] });
    await eventually(() => expect(seen).toHaveLength(4));
    expect(seen).toEqual(['media', 'other', 'media', 'media']);
  });

  it('is alive while all hands are full, and so is one without queues', async () => {
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
    }
    finish?.();
  });

  it.each([
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1']],
    ['became a replica', ['REPLICAOF', '127.0.0.1', '1']],
  ])('is alive while a Redis that %s refuses every write', async (_, [command = '', ...args]) => {
    const client = new Redis(redis.url);
    await client.call(command, ...args);
    client.disconnect();
    const consumer = consume(async () => undefined);
    // The first sign may be that of the connection alone.
    for (let sign = 0; sign < 3; sign += 1) await expectAnswer(consumer);
  });

  it('reports activity while it waits for work', async () => {
    const consumer = consume(async () => undefined);
    await queues.add('media', { jobId: 'job_a', dispatchSeq: 1 });
    await expectAnswer(consumer);
  });

  it('keeps queues of different prefixes apart', async () => {
    const other = createQueues({ redisUrl: redis.url, logger, prefix: testPrefix() });
    await eventually(() => other.add('media', { jobId: 'job_a', dispatchSeq: 1 }));
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(false);
    await other.close();
  });
});
