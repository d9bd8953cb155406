import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createCertificateAuthority, freePorts, type KeyPair } from '@lipsync/testkit';

const PORT_NAMES = [
  'postgres',
  'redis',
  's3',
  'api',
  'apiHealth',
  'mediaWorker',
  'gpuWorker',
  'webhookDispatcher',
  'receiver',
] as const;
type PortName = (typeof PORT_NAMES)[number];

export interface ServerAddresses {
  postgresUrl: string;
  redisUrl: string;
}

export interface StackCustomer {
  id: string;
  api_key: string;
  signing_secret: string;
}

/** What must survive `down` and `up`: the data on disk is bound to these ports, secrets and customers. */
export interface StackState {
  ports: Record<PortName, number>;
  /** As found when they were last started. */
  servers: ServerAddresses;
  masterKey: string;
  s3: { accessKeyId: string; secretAccessKey: string; bucket: string };
  /** `host:443=ip:port`, as given with --egress-route. */
  egressRoutes: string[];
  /** PEM of the certificate authorities given with --egress-ca. */
  egressCa: string;
  /** Signs the demo's own receiver. */
  authority: KeyPair;
  customers: StackCustomer[];
  /** Ports of the gpu-workers beside the first, by name. */
  moreGpuWorkers?: Record<string, number>;
  /** Each gpu-worker has one core to itself, in this order; without it all may use all. */
  gpuWorkerCores?: number[];
}

/** How many gpu-workers a stack has, and whether each is confined to a core of its own. */
export interface GpuWorkerPlan {
  count: number;
  cores?: readonly number[];
}

export interface GpuWorkerPlace {
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

/** Gives the state the planned gpu-workers; returns the names of those that it has no longer. */
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
  // Others may look into the directory, or Postgres' own account could not reach its data below; not into this file.
  mkdirSync(root, { recursive: true });
  writeFileSync(stateFile(root), JSON.stringify(state, null, 2), { mode: 0o600 });
}

/** Gives a number to every port that has none: a state that was written before there was such a port lacks it. */
export async function completePorts(
  known: Readonly<Partial<Record<PortName, number>>>,
): Promise<Record<PortName, number>> {
  // Free now, and yet perhaps one of those that only a running stack holds.
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
