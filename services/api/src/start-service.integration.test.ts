import { EventEmitter, once } from 'node:events';
import { createLifecycle, loadEnv } from '@lipsync/runtime';
import { createTestDatabase, startS3Server, testRedisUrl } from '@lipsync/testkit';
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
  it('starts from the environment alone, and on SIGTERM closes everything and ends with 0', async () => {
    const [database, s3] = await Promise.all([createTestDatabase(), startS3Server()]);
    const log = recordedLog();
    const env = loadEnv(apiEnvironment, {
      DATABASE_URL: database.url,
      REDIS_URL: testRedisUrl(),
      S3_ENDPOINT: s3.endpoint,
      S3_BUCKET: s3.bucket,
      S3_ACCESS_KEY_ID: s3.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      PUBLIC_BASE_URL: 'https://api.example.com',
      PORT: '0',
    });
    const handle = new TestProcess();
    const lifecycle = createLifecycle({ logger: log.logger, process: handle });
    await startService(env, log.logger, lifecycle);
    const port = listeningPort(log.lines());
    expect((await send(`http://127.0.0.1:${port}/healthz`, 'GET')).status).toBe(200);

    const exited = once(handle, 'exited');
    handle.emit('SIGTERM', 'SIGTERM');
    expect(await exited).toEqual([0]);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    await Promise.all([database.drop(), s3.close()]);
  });

  it('names every setting that is missing, in one message', () => {
    expect(() => loadEnv(apiEnvironment, { TRUSTED_PROXY_HOPS: 'many' })).toThrow(
      /DATABASE_URL[^]*REDIS_URL[^]*PUBLIC_BASE_URL[^]*TRUSTED_PROXY_HOPS/,
    );
  });
});

function listeningPort(lines: readonly Record<string, unknown>[]): number {
  const address = lines.find((line) => line['message'] === 'listening')?.['address'];
  if (typeof address !== 'object' || address === null || !('port' in address))
    throw new Error('it does not listen');
  return Number(address.port);
}
