import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@lipsync/runtime';
import { eventually, startRedis, testPrefix, testRedisUrl } from '@lipsync/testkit';
import { Redis } from 'ioredis';
import { openMessages } from './messages';
import { createQueues, type Queues } from './queues';
import { connectRedis, workerOptions } from './redis';

const logger = createLogger({ service: 'test', level: 'silent' });

describe('a connection of a worker', () => {
  it('repeats what a Redis refused that had become a replica, once it is a primary again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lipsync-redis-'));
    const server = await startRedis({ dataDir: folder });
    const worker = connectRedis(server.url, workerOptions(), { logger, name: 'worker' });
    const client = new Redis(server.url);
    await worker.ping();
    await client.call('REPLICAOF', '127.0.0.1', '1');
    const writing = worker.set('key', 'value');
    await eventually(async () => expect(await client.info('errorstats')).toContain('READONLY'));
    await client.call('REPLICAOF', 'NO', 'ONE');
    expect(await writing).toBe('OK');
    worker.disconnect();
    client.disconnect();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('messages', () => {
  const redisUrl = testRedisUrl();
  let prefix: string;
  let queues: Queues;
  let opened: ReturnType<typeof openMessages>[];

  beforeEach(async () => {
    prefix = testPrefix();
    queues = createQueues({ redisUrl, logger, prefix });
    opened = [];
    await eventually(() => queues.ping());
  });
  afterEach(async () => {
    await Promise.all(opened.map((messages) => messages.close()));
    await queues.close();
  });

  function open(lockMs?: number): ReturnType<typeof openMessages> {
    const messages = openMessages({ redisUrl, logger, prefix, queues: ['media'], ...(lockMs && { lockMs }) });
    opened.push(messages);
    messages.start();
    return messages;
  }

  it('that a worker took and then died reach another worker', async () => {
    await queues.add('media', { jobId: 'job_a', enqueueSeq: 1 });
    const dead = openMessages({ redisUrl, logger, prefix, queues: ['media'] });
    opened.push(dead);
    expect(await dead.take()).toMatchObject({ jobId: 'job_a' });
    const other = open(200);
    expect(await other.take()).toBeUndefined();
    // The lock of the dead one runs out.
    const redis = new Redis(redisUrl);
    expect(await redis.del(await redis.keys(`${prefix}:media:*:lock`))).toBe(1);
    redis.disconnect();
    await eventually(async () =>
      expect(await other.take()).toMatchObject({ jobId: 'job_a', queue: 'media' }),
    );
  });

  it('in queues with different prefixes are kept apart', async () => {
    const other = createQueues({ redisUrl, logger, prefix: testPrefix() });
    await eventually(() => other.add('media', { jobId: 'job_a', enqueueSeq: 1 }));
    expect(await queues.isQueued('media', 'job_a', 1)).toBe(false);
    expect(await open().take()).toBeUndefined();
    await other.close();
  });
});
