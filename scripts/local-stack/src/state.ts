import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createCertificateAuthority, freePorts, type KeyPair } from '@lipsync/testkit';

/** Ports on which parts of the stack listen. */
export const STACK_PORTS = [
  'postgres',
  'redis',
  's3',
  'api',
  'apiHealth',
  'mediaWorker',
  'gpuWorker',
  'webhookDispatcher',
] as const;
/**
 * Ports for the webhook receivers of demos that run at the same time. The services have routes to all of them: a new
 * route would restart the services in the middle of another demo.
 */
export const RECEIVER_PORTS = ['receiver', 'receiver2', 'receiver3', 'receiver4'] as const;
const PORT_NAMES = [...STACK_PORTS, ...RECEIVER_PORTS];
type PortName = (typeof PORT_NAMES)[number];

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
  customers: StackCustomer[];
  /** Ports of the additional gpu-workers, by name. */
  moreGpuWorkers?: Record<string, number>;
  /** One core for each gpu-worker, in this order; by default all may use all. */
  gpuWorkerCores?: number[];
}

/** The number of gpu-workers in a stack, and whether each is confined to its own core. */
export interface GpuWorkerPlan {
  count: number;
  cores?: readonly number[];
}

interface GpuWorkerPlace {
  name: string;
  port: number;
  core: number | undefined;
}

export function gpuWorkers({
  ports,
  moreGpuWorkers = {},
  gpuWorkerCores = [],
}: StackState): GpuWorkerPlace[] {
  return Object.entries({ 'gpu-worker': ports.gpuWorker, ...moreGpuWorkers }).map(([name, port], i) => ({
    name,
    port,
    core: gpuWorkerCores[i],
  }));
}

/** Applies the planned gpu-workers to the state; returns the names of those removed from it. */
export async function planGpuWorkers(state: StackState, { count, cores }: GpuWorkerPlan): Promise<string[]> {
  const known = state.moreGpuWorkers ?? {};
  const names = Array.from({ length: count - 1 }, (_, i) => `gpu-worker-${i + 2}`);
  const free = await freePorts(names.length);
  state.moreGpuWorkers = Object.fromEntries(names.map((name, i) => [name, known[name] ?? free[i] ?? 0]));
  if (cores === undefined) delete state.gpuWorkerCores;
  else state.gpuWorkerCores = [...cores];
  return Object.keys(known).filter((name) => !names.includes(name));
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
  writeFileSync(stateFile(root), JSON.stringify(state, null, 2), { mode: 0o600 });
}

/** Assigns a number to every port without one: a state that was written before a port was introduced lacks it. */
export async function completePorts(
  known: Readonly<Partial<Record<PortName, number>>>,
): Promise<Record<PortName, number>> {
  // Free now, but possibly one of those that only a running stack occupies.
  const taken = new Set(Object.values(known));
  const free = (await freePorts(2 * PORT_NAMES.length)).filter((port) => !taken.has(port));
  const numbered = PORT_NAMES.map((name, i) => [name, known[name] ?? free[i]]);
  return Object.fromEntries(numbered) as Record<PortName, number>;
}

export async function createState(): Promise<StackState> {
  const authority = await createCertificateAuthority();
  return {
    ports: await completePorts({}),
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
    customers: [],
  };
}

/** The same ports, except that those now used by another process are replaced. */
export async function replaceTaken<Name extends string>(
  ports: Readonly<Record<Name, number>>,
  names: readonly NoInfer<Name>[],
): Promise<Record<Name, number>> {
  const others = await freePorts(names.length);
  const kept: Record<Name, number> = { ...ports };
  for (const [i, name] of names.entries()) if (!(await isFree(ports[name]))) kept[name] = others[i] ?? 0;
  return kept;
}

/** Checks loopback, and all addresses as the API listens: not every system reports a conflict between the two. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port));
}

async function canListen(port: number, host?: string): Promise<boolean> {
  const probe = createServer();
  const listening = once(probe, 'listening');
  probe.listen(port, host);
  try {
    await listening;
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
