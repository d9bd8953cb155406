import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnv, sharedSettings } from '@lipsync/runtime';
import { parse } from 'yaml';
import { apiEnvironment } from '../../../services/api/src/env';
import { gpuWorkerEnvironment } from '../../../services/gpu-worker/src/env';
import { mediaWorkerEnvironment } from '../../../services/media-worker/src/env';
import { dispatcherEnvironment } from '../../../services/webhook-dispatcher/src/env';
import { environmentOf, parseDockerfile } from './dockerfile';

interface ComposeService {
  image: string;
  command?: string[];
  user?: string;
  environment?: Record<string, unknown>;
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  cap_add?: string[];
  stop_grace_period?: string;
}

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const text = read('docker-compose.yml');
const example = read('.env.example');
const { stages } = parseDockerfile(read('deploy/docker/Dockerfile'));

const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'p'.repeat(48),
  REDIS_PASSWORD: 'r'.repeat(48),
  S3_ACCESS_KEY_ID: 'dev0123456789abcdef',
  S3_SECRET_ACCESS_KEY: 's'.repeat(48),
  MASTER_KEY: 'a'.repeat(64),
};

/** `${NAME:?…}` and `${NAME:-default}` in every text, as Compose puts them in. */
function filled(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(
      /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g,
      (_, name: string, fallback?: string) => SECRETS[name] ?? fallback ?? '',
    );
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
}
const compose = filled(parse(text, { merge: true })) as {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
};
const services = Object.entries(compose.services);
const service = (name: string): ComposeService => {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

const SCHEMAS = {
  api: apiEnvironment,
  'media-worker': mediaWorkerEnvironment,
  'gpu-worker': gpuWorkerEnvironment,
  'gpu-worker-cuda': gpuWorkerEnvironment,
  'webhook-dispatcher': dispatcherEnvironment,
};
const OURS = Object.entries(SCHEMAS);
/** Read by Node, the loader, the container runtime or ONNX Runtime, not by a service. */
const NOT_SETTINGS = [
  'HOME',
  'PATH',
  'LD_LIBRARY_PATH',
  'NODE_OPTIONS',
  'NVIDIA_VISIBLE_DEVICES',
  'NVIDIA_DRIVER_CAPABILITIES',
  'ORT_DISABLE_TELEMETRY',
];

describe.each(services)('%s', (name, definition) => {
  it('cannot change its image, has no capability and gains none, and is bounded', () => {
    expect(definition).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/) as string,
      pids_limit: expect.any(Number) as number,
    });
    expect(definition.cap_add ?? []).toEqual(name === 's3-volume' ? ['CHOWN'] : []);
  });

  it('has a port here only if callers need it', () => {
    expect(definition.ports !== undefined).toBe(['api', 's3'].includes(name));
  });
});

it('runs nothing as root but what hands a fresh volume over, which has no network', () => {
  const users = services.map(([name, { user, image }]) => [
    name,
    // Images of ours are not root by themselves (images.unit.test.ts).
    user ?? (image.startsWith('localhost/') ? 'as built' : 'root'),
  ]);
  expect(Object.fromEntries(users.filter(([, user]) => user !== 'as built'))).toEqual({
    postgres: 'postgres',
    redis: 'redis',
    s3: '65534:65534',
    's3-volume': '0:0',
  });
  expect(service('s3-volume').network_mode).toBe('none');
});

describe.each(OURS)('the settings of %s', (name, schema) => {
  const given = Object.fromEntries(
    Object.entries({ ...environmentOf(stages, name), ...service(name).environment }).map(
      ([key, value]) => [key, String(value)] as const,
    ),
  );

  it('are settings that it knows', () => {
    const unknown = Object.keys(given).filter(
      (variable) => !(variable in schema.shape) && !NOT_SETTINGS.includes(variable) && !isForAll(variable),
    );
    expect(unknown).toEqual([]);
  });

  it('are all that it needs, well-formed, and leave it the time it takes to stop', () => {
    const settings: object = loadEnv(schema, given);
    const grace = 'SHUTDOWN_GRACE_SECONDS' in settings ? Number(settings.SHUTDOWN_GRACE_SECONDS) + 10 : 25;
    expect(parseInt(service(name).stop_grace_period ?? '0', 10)).toBeGreaterThan(grace);
  });
});

/** The image says production to all, and some of them do not ask. */
function isForAll(variable: string): boolean {
  return variable === 'NODE_ENV' && variable in sharedSettings.shape;
}

it('lets the renderer reach the servers and nothing else', () => {
  expect(compose.networks['data']).toEqual({ internal: true });
  for (const name of ['gpu-worker', 'gpu-worker-cuda', 'postgres', 'redis', 'migrate', 'bucket', 'admin'])
    expect(service(name).networks).toEqual(['data']);
});

it('exports weights from the internet away from the servers', () => {
  expect(service('exporter').networks).toEqual(['egress']);
});

it('has a Redis that refuses what does not fit and keeps what it took', () => {
  const { command = [] } = service('redis');
  const option = (name: string) => command[command.indexOf(`--${name}`) + 1];
  expect(option('maxmemory-policy')).toBe('noeviction');
  expect(option('appendonly')).toBe('yes');
  expect(option('requirepass')).toBe(SECRETS['REDIS_PASSWORD']);
});

describe('.env.example', () => {
  const named = new Set([...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name));

  it('names every variable of docker-compose.yml', () => {
    const used = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect([...used].filter((name) => !named.has(name))).toEqual([]);
    expect([...named].filter((name) => !used.has(name))).toEqual(['COMPOSE_PROJECT_NAME']);
  });

  it('has no value for a secret, and without one nothing starts', () => {
    for (const name of Object.keys(SECRETS)) {
      expect(example).toMatch(new RegExp(`^${name}=$`, 'm'));
      expect(text).not.toMatch(new RegExp(`\\$\\{${name}\\b(?!:\\?)`));
      expect(read('deploy/docker/secrets.sh')).toContain(`^${name}=$`);
    }
    expect(read('.gitignore').split('\n')).toContain('.env');
  });
});
