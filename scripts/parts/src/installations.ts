import { randomBytes } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { type ExternalServers } from '@lipsync/local-stack';
import { createPart, type Part } from './part';

/** What scripts/parts.mjs found on this machine and chose for this run. */
interface Found {
  /** Versions of what is installed, by the names of the scripts in deploy/parts. */
  versions: Readonly<Record<string, string | undefined>>;
  /** Folder of the PostgreSQL programs that the repository brings, and their version. */
  embeddedPostgres: { binDir: string; version: string };
  /** Folder for everything that the parts write. */
  dir: string;
  /** Free ones, 14 for each installation. */
  ports: readonly string[];
}

export function foundParts(): Found {
  const text = process.env['PARTS_FOUND'];
  if (text === undefined) throw new Error('these tests need what npm test -- parts prepares');
  return JSON.parse(text) as Found;
}

/** Servers as an operator might combine them. */
interface Installation {
  name: string;
  /** In the order of their start, before the services. */
  parts: readonly Part[];
  servers: ExternalServers;
  /** Before the api; its start needs API_PORT. */
  proxy?: Part & { url: string };
}

/** PostgreSQL of the distribution (with JIT) behind a pooler, Redis with an access list, a store, nginx: all with TLS. */
export function distributionInstallation(found: Found): Installation {
  const { versions, embeddedPostgres } = found;
  const env = createEnvironment(found, 'distribution', 0);
  const own = versions['postgres'] === undefined ? { POSTGRES_BIN_DIR: embeddedPostgres.binDir } : {};
  const optional = (name: string, port: string) =>
    versions[name] === undefined ? [] : [createPart({ name, version: versions[name], port, env })];
  const poolers = optional('pgbouncer', env.PGBOUNCER_PORT);
  const [proxy] = optional('nginx', env.NGINX_PORT);
  const store = storeParts(env, found, 0);
  return {
    name: 'distribution',
    parts: [
      createPart({
        name: 'postgres',
        version: versions['postgres'] ?? embeddedPostgres.version,
        port: env.POSTGRES_PORT,
        env: { ...env, ...own },
      }),
      ...poolers,
      ...optional('redis', env.REDIS_PORT),
      ...store,
    ],
    servers: {
      postgresUrl: postgresUrl(env, poolers.length === 0 ? env.POSTGRES_PORT : env.PGBOUNCER_PORT),
      migrationUrl: postgresUrl(env, env.POSTGRES_PORT),
      redisUrl: redisUrl(env, env.REDIS_PORT),
      ...storeAccess(env, store),
    },
    ...(proxy && { proxy: { ...proxy, url: `https://localhost:${env.NGINX_PORT}` } }),
  };
}

/** The newest PostgreSQL without a pooler, and two Redis servers that Sentinel watches, behind HAProxy. */
export function failoverInstallation(found: Found): Installation {
  const { versions, embeddedPostgres } = found;
  const env = createEnvironment(found, 'failover', 14);
  const redis = { version: versions['redis'], script: 'redis' };
  const store = storeParts(env, found, 1);
  return {
    name: 'failover',
    parts: [
      createPart({
        name: 'postgres',
        version: embeddedPostgres.version,
        port: env.POSTGRES_PORT,
        env: { ...env, POSTGRES_BIN_DIR: embeddedPostgres.binDir },
      }),
      createPart({ name: 'redis', version: versions['redis'], port: env.REDIS_PORT, env }),
      // Whenever the first has failed, this one is the primary.
      createPart({
        name: 'redis-2',
        ...redis,
        port: env.REPLICA_PORT,
        env: { ...env, REDIS_PORT: env.REPLICA_PORT, REDIS_REPLICA_OF: env.REDIS_PORT },
      }),
      ...env.SENTINEL_PORTS.split(' ').map((port, i) =>
        createPart({
          name: `sentinel-${i + 1}`,
          ...redis,
          argument: 'sentinel',
          port,
          lasts: true,
          env: { ...env, SENTINEL_PORT: port },
        }),
      ),
      createPart({ name: 'haproxy', version: versions['haproxy'], port: env.HAPROXY_PORT, env }),
      ...store,
    ],
    servers: {
      postgresUrl: postgresUrl(env, env.POSTGRES_PORT),
      redisUrl: redisUrl(env, env.HAPROXY_PORT),
      ...storeAccess(env, store),
    },
  };
}

/** The distribution's PostgreSQL, which brings the programs that dump and restore, and Redis. */
export function backedUpInstallation(found: Found): Installation {
  const { versions } = found;
  const env = createEnvironment(found, 'backup', 28);
  return {
    name: 'backup',
    parts: [
      createPart({ name: 'postgres', version: versions['postgres'], port: env.POSTGRES_PORT, env }),
      createPart({ name: 'redis', version: versions['redis'], port: env.REDIS_PORT, env }),
    ],
    servers: {
      postgresUrl: postgresUrl(env, env.POSTGRES_PORT),
      redisUrl: redisUrl(env, env.REDIS_PORT),
    },
  };
}

/** One environment describes a whole installation; each script takes from it what it needs. */
function createEnvironment({ dir, ports }: Found, name: string, firstPort: number) {
  const root = path.join(dir, name);
  mkdirSync(root);
  // One authority for all, which the services trust.
  symlinkSync(path.join(dir, 'tls'), path.join(root, 'tls'));
  let next = firstPort;
  const port = (): string => ports[next++] ?? '';
  const secret = (): string => randomBytes(16).toString('hex');
  const redisPort = port();
  const replicaPort = port();
  return {
    PARTS_DIR: root,
    POSTGRES_PORT: port(),
    POSTGRES_PASSWORD: secret(),
    PGBOUNCER_PORT: port(),
    REDIS_PORT: redisPort,
    REPLICA_PORT: replicaPort,
    REDIS_PORTS: `${redisPort} ${replicaPort}`,
    REDIS_PASSWORD: secret(),
    SENTINEL_PORTS: `${port()} ${port()} ${port()}`,
    HAPROXY_PORT: port(),
    NGINX_PORT: port(),
    S3_PORT: port(),
    S3_ACCESS_KEY_ID: secret(),
    S3_SECRET_ACCESS_KEY: secret(),
    CEPH_MON_PORT: port(),
    CEPH_SETUP_PORT: port(),
  };
}
type Environment = ReturnType<typeof createEnvironment>;

const postgresUrl = ({ POSTGRES_PASSWORD }: Environment, port: string): string =>
  `postgres://lipsync_a:${POSTGRES_PASSWORD}@localhost:${port}/lipsync?sslmode=verify-full`;
const redisUrl = ({ REDIS_PASSWORD }: Environment, port: string): string =>
  `rediss://lipsync:${REDIS_PASSWORD}@localhost:${port}`;

/** Each installation tries another one of the stores that are there. Of Ceph, the gateway is what fails. */
function storeParts(env: Environment, { versions }: Found, index: number): Part[] {
  const name = ['versitygw', 'ceph'].filter((store) => versions[store] !== undefined)[index];
  if (name === undefined) return [];
  const gateway = createPart({ name, version: versions[name], port: env.S3_PORT, env });
  if (name !== 'ceph') return [gateway];
  const cluster = { name: 'ceph-cluster', version: versions[name], script: 'ceph', argument: 'cluster' };
  return [createPart({ ...cluster, port: env.CEPH_MON_PORT, env, lasts: true }), gateway];
}

/** Where there is no real store, the stack starts its own. */
function storeAccess(env: Environment, store: readonly Part[]): Pick<ExternalServers, 'store'> {
  if (store.length === 0) return {};
  return {
    store: {
      endpoint: `https://localhost:${env.S3_PORT}`,
      accessKeyId: env.S3_ACCESS_KEY_ID,
      secretAccessKey: env.S3_SECRET_ACCESS_KEY,
      bucket: 'lipsync',
      // versitygw refuses what a signed upload could add.
      hasUploadPair: store.some(({ title }) => title.startsWith('ceph')),
    },
  };
}
