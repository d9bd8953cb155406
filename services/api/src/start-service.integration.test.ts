import { EventEmitter, once } from 'node:events';
import { createLifecycle, loadEnv } from '@lipsync/runtime';
import { openStorage } from '@lipsync/storage';
import {
  createTestDatabase,
  parseExposition,
  type S3Server,
  startS3Server,
  testRedisUrl,
} from '@lipsync/testkit';
import { send } from '../test/http-client';
import { recordedLog } from '../test/recorded-log';
import { apiEnvironment } from './env';
import { startService } from './start-service';

/** A process that remembers how it ended. */
class TestProcess extends EventEmitter {
  exit(code: number): void {
    this.emit('exited', code);
  }
}

describe('startService', () => {
  it('starts from the environment alone, on the address that it is told, and on SIGTERM closes everything and ends with 0', async () => {
    const [database, s3] = await Promise.all([createTestDatabase(), startS3Server()]);
    const log = recordedLog();
    const env = loadEnv(apiEnvironment, { ...settings(database.url, s3), LISTEN_ADDRESS: '127.0.0.1' });
    const handle = new TestProcess();
    const lifecycle = createLifecycle({ logger: log.logger, process: handle });
    await startService(env, log.logger, lifecycle);
    const { port, healthPort } = listening(log.lines());
    expect((await send(`http://127.0.0.1:${port}/healthz`, 'GET')).status).toBe(200);
    // Another address of the same machine.
    for (const each of [port, healthPort])
      await expect(fetch(`http://127.0.0.2:${each}/healthz`)).rejects.toThrow('fetch failed');

    // No worker, and yet this process can take requests: the two say different things.
    const own = (path: string) => fetch(`http://127.0.0.1:${healthPort}${path}`);
    expect((await send(`http://127.0.0.1:${port}/readyz`, 'GET')).status).toBe(503);
    expect(await (await own('/readyz')).json()).toEqual({ status: 'ok', checks: { postgres: 'ok' } });
    expect((await own('/healthz')).status).toBe(200);
    const metrics = parseExposition(await (await own('/metrics')).text());
    expect(metrics.value('lipsync_build_info', { component: 'api' })).toBe(1);
    expect(metrics.value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect((await send(`http://127.0.0.1:${port}/metrics`, 'GET')).status).toBe(404);

    // It answers requests also while the database is away: that is for it to say, and not for a load balancer.
    await database.drop();
    expect((await own('/readyz')).status).toBe(200);

    const exited = once(handle, 'exited');
    handle.emit('SIGTERM', 'SIGTERM');
    expect(await exited).toEqual([0]);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    await s3.close();
  });

  it('signs uploads with the pair that the environment names for them, and nothing else with it', async () => {
    const s3 = await startS3Server();
    const pair = { S3_UPLOAD_ACCESS_KEY_ID: 'uploads', S3_UPLOAD_SECRET_ACCESS_KEY: 'secret' };
    const storage = openStorage(loadEnv(apiEnvironment, { ...settings('postgres://unused', s3), ...pair }));
    const signer = ({ url }: { url: string }) =>
      new URL(url).searchParams.get('X-Amz-Credential')?.split('/')[0];
    const options = { contentType: 'video/mp4', expiresSeconds: 60 };
    expect(signer(await storage.presignPut('k', { ...options, contentLength: 1 }))).toBe('uploads');
    expect(signer(await storage.presignGet('k', { ...options, filename: 'v.mp4' }))).toBe(s3.accessKeyId);
    storage.close();
    await s3.close();
  });

  it('refuses to listen on what is no address', () => {
    expect(() => loadEnv(apiEnvironment, { LISTEN_ADDRESS: 'localhost' })).toThrow(
      /LISTEN_ADDRESS: must be an IP address/,
    );
  });

  it('names every setting that is missing, in one message', () => {
    expect(() => loadEnv(apiEnvironment, { TRUSTED_PROXY_HOPS: 'many' })).toThrow(
      /DATABASE_URL[^]*REDIS_URL[^]*PUBLIC_BASE_URL[^]*TRUSTED_PROXY_HOPS/,
    );
  });
});

function settings(databaseUrl: string, s3: S3Server): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: testRedisUrl(),
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    PUBLIC_BASE_URL: 'https://api.example.com',
    // The page is there only after a build, which these tests do without.
    STUDIO: 'off',
    PORT: '0',
    HEALTH_PORT: '0',
  };
}

function listening(lines: readonly Record<string, unknown>[]): { port: number; healthPort: number } {
  const line = lines.find(({ message }) => message === 'listening');
  const address = line?.['address'];
  if (typeof address !== 'object' || address === null || !('port' in address))
    throw new Error('it does not listen');
  return { port: Number(address.port), healthPort: Number(line?.['health_port']) };
}
