import path from 'node:path';
import { hashApiKey } from '@lipsync/domain';
import { REPOSITORY_ROOT, waitUntil } from '@lipsync/local-stack';
import { freePorts } from '@lipsync/testkit';
import { type BenchProcess, startProcess } from './bench-process';
import { type World } from './world';

export interface Server {
  port: number;
  process: BenchProcess;
}

/** The settings that the services need to start; the store is never contacted, only named in signed URLs. */
export function serviceEnvironment(world: World): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: world.databaseUrl,
    REDIS_URL: world.redisUrl,
    MASTER_KEY: world.masterKey,
    PUBLIC_BASE_URL: 'https://api.example.test',
    S3_ENDPOINT: 'http://127.0.0.1:9',
    S3_BUCKET: 'bench',
    S3_ACCESS_KEY_ID: 'bench',
    S3_SECRET_ACCESS_KEY: 'bench-secret',
  };
}

export const serviceMain = (name: string): string =>
  path.join(REPOSITORY_ROOT, 'services', name, 'dist', 'main.js');

/** The API as it runs in production, logging to a file. */
export async function startApi(world: World): Promise<Server> {
  const [port = 0, healthPort = 0] = await freePorts(2);
  const env = { ...serviceEnvironment(world), NODE_ENV: 'production', PORT: String(port) };
  const process = startProcess({
    module: serviceMain('api'),
    env: { ...env, HEALTH_PORT: String(healthPort) },
    logFile: path.join(world.folder, 'api.log'),
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  if (!(await waitUntil(answers, 20_000))) throw new Error('the API did not start');
  return { port, process };
}

/** The baseline: see bare-server.ts. */
export async function startBareServer(world: World): Promise<Server> {
  const process = startProcess({
    module: path.join(__dirname, 'bare-server.js'),
    env: {
      NODE_ENV: 'production',
      DATABASE_URL: world.databaseUrl,
      KEY_HASHES: world.callers.map(({ apiKey }) => hashApiKey(apiKey)).join(','),
    },
    logFile: path.join(world.folder, 'bare-server.log'),
  });
  const { port } = await process.hear<{ port: number }>();
  return { port, process };
}
