import { createHash, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { parseEgressRoutes } from '@lipsync/runtime';
import { PACKS_DIR, REPOSITORY_ROOT, type StackLayout } from './layout';
import { type ProcessSpec } from './process-manager';
import { databaseUrlOf, uploadCredentials } from './servers';
import { RECEIVER_PORTS, type StackState } from './state';

/** Host name of the webhook receivers of demos, on loopback. */
export const RECEIVER_HOST = 'receiver.demo.test';

/** Where demos can receive webhooks: the authority of the address to announce to, and the port to listen on. */
export const receiverPlaces = ({ ports }: Pick<StackState, 'ports'>) =>
  RECEIVER_PORTS.map((name, i) => ({ authority: `${RECEIVER_HOST}:${443 + i}`, port: ports[name] }));

export interface ServiceSpec extends ProcessSpec {
  healthUrl: string;
}

export const s3Endpoint = ({ ports, s3 }: StackState) => s3.endpoint ?? `http://127.0.0.1:${ports.s3}`;
export const baseUrl = ({ ports }: StackState) => `http://127.0.0.1:${ports.api}`;

/** The four services as an operator would run them: one process each, configured only by environment. */
export function serviceSpecs(state: StackState, layout: StackLayout): ServiceSpec[] {
  const common = {
    NODE_ENV: 'development',
    // A developer's machine may have nothing that confines ffmpeg, macOS for one.
    MEDIA_SANDBOX: 'preferred',
    LISTEN_ADDRESS: '127.0.0.1',
    PATH: process.env['PATH'] ?? '',
    ...passThrough('FFMPEG_BIN', 'FFPROBE_BIN', 'LOG_LEVEL'),
    ...backendEnvironment(state),
  };
  const egress = {
    EGRESS_ROUTES: [
      ...receiverPlaces(state).map(({ authority, port }) => `${authority}=127.0.0.1:${port}`),
      ...state.egressRoutes,
    ].join(','),
    EGRESS_CA_FILE: authorityFile(layout.root, state).file,
  };
  const service = (name: string, port: number, env: Record<string, string>, program = name): ServiceSpec => {
    const healthUrl = `http://127.0.0.1:${port}/healthz`;
    return {
      name,
      command: process.execPath,
      args: [path.join(REPOSITORY_ROOT, 'services', program, 'dist', 'main.js')],
      env: { ...common, DATABASE_URL: databaseUrlOf(program, state), ...env },
      healthUrl,
      lacks: () => lackingAt(`http://127.0.0.1:${port}/readyz`),
      stopGraceMs: 30_000,
    };
  };
  const { ports } = state;
  return [
    service('media-worker', ports.mediaWorker, {
      ...egress,
      HEALTH_PORT: String(ports.mediaWorker),
      WORK_DIR: path.join(layout.workDir, 'media-worker'),
    }),
    ...state.gpuWorkers.map(({ name, port, core }) =>
      onCore(
        core,
        service(
          name,
          port,
          {
            HEALTH_PORT: String(port),
            WORK_DIR: path.join(layout.workDir, name),
            MODEL_PACKS_DIR: PACKS_DIR,
            GPU_SLOTS: '1',
            ...(state.signing && {
              CONTENT_CREDENTIALS: 'required',
              CONTENT_CREDENTIALS_CERTIFICATE: state.signing.chain,
              CONTENT_CREDENTIALS_KEY: state.signing.key,
            }),
          },
          'gpu-worker',
        ),
      ),
    ),
    service('webhook-dispatcher', ports.webhookDispatcher, {
      ...egress,
      HEALTH_PORT: String(ports.webhookDispatcher),
    }),
    // Last, because /readyz is ready only when a worker is; its own port says only that it is running.
    {
      ...service('api', ports.apiHealth, { PORT: String(ports.api), HEALTH_PORT: String(ports.apiHealth) }),
      lacks: () => lackingAt(`${baseUrl(state)}/readyz`),
    },
  ];
}

/** Linux only; `taskset` execs the program, so the process id stays the same. */
function onCore(core: number | undefined, spec: ServiceSpec): ServiceSpec {
  if (core === undefined) return spec;
  return { ...spec, command: 'taskset', args: ['-c', String(core), spec.command, ...spec.args] };
}

/** Addresses of the database, the queue and the store, with their secrets. */
export function backendEnvironment(state: StackState): Record<string, string> {
  const uploads = uploadCredentials(state.s3);
  return {
    DATABASE_URL: state.servers.postgresUrl,
    REDIS_URL: state.servers.redisUrl,
    S3_ENDPOINT: s3Endpoint(state),
    S3_PUBLIC_ENDPOINT: s3Endpoint(state),
    S3_REGION: 'us-east-1',
    S3_BUCKET: state.s3.bucket,
    S3_ACCESS_KEY_ID: state.s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: state.s3.secretAccessKey,
    ...(state.s3.hasUploadPair !== false && {
      S3_UPLOAD_ACCESS_KEY_ID: uploads.accessKeyId,
      S3_UPLOAD_SECRET_ACCESS_KEY: uploads.secretAccessKey,
    }),
    S3_FORCE_PATH_STYLE: 'true',
    PUBLIC_BASE_URL: baseUrl(state),
    MASTER_KEY: state.masterKey,
    ...passThrough('NODE_EXTRA_CA_CERTS'),
  };
}

/** What the operator's commands run with: `admin` has a role of its own, as in production. */
export function adminEnvironment(state: StackState): Record<string, string> {
  return { ...backendEnvironment(state), DATABASE_URL: databaseUrlOf('admin', state) };
}

/** The checks that fail at a health address of a service, by name; null if it answers with success. */
export async function lackingAt(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    if (response.ok) {
      await response.body?.cancel();
      return null;
    }
    const { status, checks } = (await response.json()) as { status: string; checks: Record<string, string> };
    const failed = Object.keys(checks).filter((name) => checks[name] !== 'ok');
    return failed.join(', ') || status;
  } catch {
    return 'an answer';
  }
}

function passThrough(...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/**
 * Merges the routes of a stack with those from `--egress-route`: a host has one route, the newest. Throws on a
 * malformed route, before anything is stored.
 */
export function mergeRoutes(known: readonly string[], given: readonly string[]): string[] {
  const all = [...known, ...given];
  const routes = all.length === 0 ? [] : parseEgressRoutes(all.join(','));
  return [...routes].map(([source, target]) => `${source}=${target}`);
}

/**
 * Merges the authorities of a stack with those from `--egress-ca`. Throws when it contains no certificate; a
 * self-signed server certificate is accepted, too.
 */
export function mergeAuthorities(known: string, given: string): string {
  // Node's TLS would ignore a broken one silently, and every routed destination would then fail.
  void new X509Certificate(given);
  return known.includes(given.trim()) ? known : `${known}${given.trim()}\n`;
}

/**
 * The authorities that services trust for routed destinations, and the file to read them from. Its name contains a
 * digest of its content: different authorities change the service's settings, so that it is restarted.
 */
export function authorityFile(root: string, state: Pick<StackState, 'authority' | 'egressCa'>) {
  const pem = `${state.authority.cert.trim()}\n${state.egressCa}`;
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 12);
  return { file: path.join(root, `egress-ca-${digest}.pem`), pem };
}
