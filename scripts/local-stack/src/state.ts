import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import {
  createCertificateAuthority,
  createSigningCertificate,
  freePorts,
  type KeyPair,
  listenOnLoopback,
  type SigningCertificate,
} from '@lipsync/testkit';

/**
 * Ports for the webhook receivers of demos that run at the same time. The services have routes to all of them: a new
 * route would restart the services in the middle of another demo.
 */
export const RECEIVER_PORTS = ['receiver', 'receiver2', 'receiver3', 'receiver4'] as const;
/** Ports on which parts of the stack listen; those of the gpu-workers are with them. */
const STACK_PORTS = [
  'postgres',
  'redis',
  's3',
  'api',
  'apiHealth',
  'mediaWorker',
  'webhookDispatcher',
] as const;
type PortName = (typeof STACK_PORTS)[number] | (typeof RECEIVER_PORTS)[number];

export interface ServerAddresses {
  postgresUrl: string;
  /** Where the migration finds the database, if `postgresUrl` leads to a pooler. */
  migrationUrl?: string;
  redisUrl: string;
}

export interface StoreAccess {
  /** By default the stack's own store. */
  endpoint?: string;
  accessKeyId: string;
  secretAccessKey: string;
  bucket: string;
  /** False: it knows no second pair that may only upload (the access key with `-uploads`, and the same secret). */
  hasUploadPair?: boolean;
}

/** Servers that somebody else runs: a stack neither starts, stops nor erases them. */
export interface ExternalServers extends ServerAddresses {
  /** Its bucket exists. */
  store?: StoreAccess;
}

export interface StackCustomer {
  id: string;
  api_key: string;
  signing_secret: string;
}

/** What must survive `down` and `up`: the data on disk is bound to these ports, secrets and customers. */
export interface StackState {
  ports: Record<PortName, number>;
  /** Addresses from their latest start. */
  servers: ServerAddresses;
  masterKey: string;
  s3: StoreAccess;
  /** `host:443=ip:port`, as given with --egress-route. */
  egressRoutes: string[];
  /** PEM of the certificate authorities given with --egress-ca. */
  egressCa: string;
  /** Signs the certificates of the demos' receivers. */
  authority: KeyPair;
  /** Signs the outputs' content credentials. Absent until a stack that was made before them is up again. */
  signing?: SigningCertificate;
  customers: StackCustomer[];
  gpuWorkers: GpuWorkerPlace[];
}

export interface GpuWorkerPlace {
  name: string;
  /** The port of its health server. */
  port: number;
  /** The only processor core that it may use; by default it may use all. */
  core?: number | undefined;
}

/** The number of gpu-workers in a stack, and whether each is confined to its own core. */
export interface GpuWorkerPlan {
  count: number;
  cores?: readonly number[];
}

/** Sets how many gpu-workers there are. Those that remain keep their ports; returns the names of those that do not. */
export async function planGpuWorkers(state: StackState, { count, cores }: GpuWorkerPlan): Promise<string[]> {
  const known = state.gpuWorkers;
  state.gpuWorkers = (await freePorts(count)).map((port, i) => ({
    name: i === 0 ? 'gpu-worker' : `gpu-worker-${i + 1}`,
    port: known[i]?.port ?? port,
    core: cores?.[i],
  }));
  return known.slice(count).map(({ name }) => name);
}

const stateFile = (root: string) => path.join(root, 'state.json');

export function readState(root: string): StackState | null {
  try {
    return JSON.parse(readFileSync(stateFile(root), 'utf8')) as StackState;
  } catch {
    return null;
  }
}

export function writeState(root: string, state: StackState): void {
  // The directory is readable by others, because Postgres' own account must reach its data below it; this file is not.
  mkdirSync(root, { recursive: true });
  // Replaced as a whole: half a file would be no file, and the data would lose its secrets.
  const written = `${stateFile(root)}.new`;
  writeFileSync(written, JSON.stringify(state, null, 2), { mode: 0o600 });
  renameSync(written, stateFile(root));
}

export async function createState(): Promise<StackState> {
  const authority = await createCertificateAuthority();
  const names: PortName[] = [...STACK_PORTS, ...RECEIVER_PORTS];
  const [gpuWorkerPort = 0, ...ports] = await freePorts(1 + names.length);
  return {
    ports: Object.fromEntries(names.map((name, i) => [name, ports[i]])) as Record<PortName, number>,
    servers: { postgresUrl: '', redisUrl: '' },
    masterKey: randomBytes(32).toString('hex'),
    s3: {
      accessKeyId: `local-${randomBytes(8).toString('hex')}`,
      secretAccessKey: randomBytes(32).toString('base64url'),
      bucket: 'lipsync',
    },
    egressRoutes: [],
    egressCa: '',
    authority: { cert: authority.cert, key: authority.key },
    signing: await createSigningCertificate(),
    customers: [],
    gpuWorkers: [{ name: 'gpu-worker', port: gpuWorkerPort }],
  };
}

/** Replaces the ports of a stack that is down which another process has taken meanwhile. */
export async function replaceTakenPorts({ ports, gpuWorkers }: StackState): Promise<void> {
  for (const name of STACK_PORTS) ports[name] = await freeInstead(ports[name]);
  for (const worker of gpuWorkers) worker.port = await freeInstead(worker.port);
}

async function freeInstead(port: number): Promise<number> {
  const probe = createServer();
  try {
    return await listenOnLoopback(probe, port);
  } catch {
    const [free = 0] = await freePorts(1);
    return free;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
