import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSigningCertificate, erasePostgres, isAlive } from '@lipsync/testkit';
import { descriptionFile, stackLayout } from './layout';
import { createProcessManager, type ProcessSpec } from './process-manager';
import { provision } from './provision';
import { s3Spec, serverPids, startServers, stopServers } from './servers';
import {
  baseUrl,
  mergeAuthorities,
  mergeRoutes,
  s3Endpoint,
  type ServiceSpec,
  serviceSpecs,
} from './services';
import { NeverReady, type Progress, startProcesses } from './start-processes';
import {
  createState,
  type ExternalServers,
  type GpuWorkerPlan,
  planGpuWorkers,
  readState,
  replaceTakenPorts,
  type StackCustomer,
  type StackState,
  writeState,
} from './state';
import { withLock } from './waiting';

interface StackOptions {
  /** Directory for everything that the stack writes. */
  root: string;
  /** Added to the stack's existing routes. */
  egressRoutes?: readonly string[];
  /** PEM text of authorities to trust for routed destinations. */
  egressCa?: string;
  /** Environment variables for every service, overriding the stack's own (tests shorten lifetimes with them). */
  serviceEnv?: Readonly<Record<string, string>>;
  /** Used instead of its own Postgres and Redis and, if a store is given, instead of its own store. */
  servers?: ExternalServers;
  /** Default: as many as the stack already has, which is initially one. */
  gpuWorkers?: GpuWorkerPlan;
  onProgress?: (name: string, progress: Progress | 'stopped') => void;
}

/** The contents of `.local/stack.json`, which exists while anything of the stack may run. */
export interface StackDescription {
  base_url: string;
  customers: StackCustomer[];
  postgres_url: string;
  redis_url: string;
  s3: { endpoint: string; bucket: string; access_key_id: string; secret_access_key: string };
  services: { name: string; pid: number | null; health_url: string }[];
  logs_dir: string;
}

/** A worker that is no longer wanted ends its job or hands it over. */
const GPU_WORKER_GRACE_MS = 30_000;
/**
 * One local stack: Postgres, Redis, an S3 double and the four services as detached processes on loopback. `up` starts
 * whatever is not running (or runs with outdated settings), so it also restarts a killed part.
 */
export function createStack(options: StackOptions) {
  const layout = stackLayout(options.root);
  const processes = createProcessManager(layout);
  const report = options.onProgress ?? (() => undefined);

  const services = (state: StackState): ServiceSpec[] =>
    serviceSpecs(state, layout).map((spec) => ({ ...spec, env: { ...spec.env, ...options.serviceEnv } }));

  async function loadState(): Promise<StackState> {
    const state = readState(layout.root) ?? (await createState());
    state.signing ??= await createSigningCertificate();
    state.s3 = options.servers?.store ?? state.s3;
    state.egressRoutes = mergeRoutes(state.egressRoutes, options.egressRoutes ?? []);
    if (options.egressCa !== undefined) state.egressCa = mergeAuthorities(state.egressCa, options.egressCa);
    // While the stack was down, other processes could take its ports. (Running Postgres and Redis are identified by
    // their data.)
    if (isDown(state)) await replaceTakenPorts(state);
    if (options.gpuWorkers !== undefined)
      for (const name of await planGpuWorkers(state, options.gpuWorkers))
        await processes.stop({ name, stopGraceMs: GPU_WORKER_GRACE_MS });
    writeState(layout.root, state);
    return state;
  }

  const isDown = (state: StackState): boolean =>
    [s3Spec(state, layout), ...services(state)].every(({ name }) => processes.findPid(name) === null);

  async function start(): Promise<StackDescription> {
    const state = await loadState();
    const startAll = (specs: readonly ProcessSpec[]) => startProcesses(specs, { processes, report });
    state.servers = options.servers ?? (await startServers(state, layout));
    if (state.s3.endpoint === undefined) await startAll([s3Spec(state, layout)]);
    await provision(state, layout);
    writeState(layout.root, state);
    // Before the services: a start that fails leaves running what runs, and says how to reach it.
    writeDescription(state);
    await startAll(services(state));
    return writeDescription(state);
  }

  async function up(): Promise<StackDescription> {
    return locked(async () => {
      const before = readState(layout.root);
      const wasDown = before === null || isDown(before);
      try {
        return await start();
      } catch (error) {
        // A port that was free when it was checked may be taken by the time it is used: the next check notices.
        if (!wasDown || error instanceof NeverReady) throw error;
        await stopAll();
        return start();
      }
    });
  }

  async function down(isWanted = () => true): Promise<void> {
    if (readState(layout.root) === null) return;
    await locked(async () => {
      if (isWanted()) await stopAll();
    });
  }

  const locked = <T>(action: () => Promise<T>): Promise<T> =>
    withLock(layout.lockFile, action, (holder) =>
      report('stack', `waits for another command, process ${holder}`),
    );

  async function stopAll(): Promise<void> {
    const state = readState(layout.root);
    if (state === null) return;
    await Promise.all(services(state).map(stop));
    await stop(s3Spec(state, layout));
    await stopServers(layout);
    rmSync(descriptionFile(layout.root), { force: true });
  }

  async function stop(spec: ProcessSpec): Promise<void> {
    if (processes.findPid(spec.name) === null) return;
    await processes.stop(spec);
    report(spec.name, 'stopped');
  }

  /** For people and programs. */
  function writeDescription(state: StackState): StackDescription {
    const description = describe(state);
    const text = JSON.stringify(description, null, 2);
    writeFileSync(descriptionFile(layout.root), `${text}\n`, { mode: 0o600 });
    return description;
  }

  function describe(state: StackState): StackDescription {
    return {
      base_url: baseUrl(state),
      customers: state.customers,
      postgres_url: state.servers.postgresUrl,
      redis_url: state.servers.redisUrl,
      s3: {
        endpoint: s3Endpoint(state),
        bucket: state.s3.bucket,
        access_key_id: state.s3.accessKeyId,
        secret_access_key: state.s3.secretAccessKey,
      },
      services: services(state).map(({ name, healthUrl }) => ({
        name,
        pid: processes.findPid(name),
        health_url: healthUrl,
      })),
      logs_dir: layout.logsDir,
    };
  }

  return {
    up,
    /** Runs `action` while no other command acts on the stack. */
    locked,
    /** Stops everything, unless `isWanted`, which is asked when no other command acts on the stack, says no. */
    down,
    /** Null when this stack was never up. */
    describe: () => {
      const state = readState(layout.root);
      return state === null ? null : describe(state);
    },
    /** Ports, secrets and customers. @throws Error when this stack was never up */
    state: (): StackState => {
      const state = readState(layout.root);
      if (state === null) throw new Error(`no stack was ever up in ${layout.root}`);
      return state;
    },
    /** The servers that the services depend on, with their process ids. */
    servers: async (): Promise<{ name: string; pid: number | null }[]> => [
      ...(await serverPids(layout)),
      { name: 's3', pid: processes.findPid('s3') },
    ],
    /** Deletes all data of a stack that is down. */
    erase: () => {
      erasePostgres(layout.postgresDir);
      rmSync(layout.root, { recursive: true, force: true });
    },
    findPid: processes.findPid,
    layout,
  };
}

export type Stack = ReturnType<typeof createStack>;

/** What becomes of the stack when its last user leaves: each user's file holds one of the two. */
const STOP = 'stop';
const KEEP = 'keep';

/**
 * Registers this process as a user of the stack, before it starts what does not run. Several may use a stack at once;
 * the last one to leave stops it, if the first one found it down and none asked to keep it.
 * @returns whether the stack was up, and `leave`, to be called once
 */
export async function joinStack(
  stack: Stack,
  { keep }: { keep: boolean },
): Promise<{ wasUp: boolean; leave: () => Promise<void> }> {
  const folder = path.join(stack.layout.root, 'users');
  const own = path.join(folder, String(process.pid));
  // A process that was killed leaves its file behind.
  const others = (): string[] =>
    readdirSync(folder)
      .map((name) => path.join(folder, name))
      .filter((file) => file !== own && isAlive(Number(path.basename(file))));
  const isToStop = (file: string): boolean => readFileSync(file, 'utf8') === STOP;

  return stack.locked(async () => {
    mkdirSync(folder, { recursive: true });
    const wasUp = stack.describe()?.services.some(({ pid }) => pid !== null) ?? false;
    writeFileSync(own, !keep && (!wasUp || others().some(isToStop)) ? STOP : KEEP);
    if (keep) for (const file of others()) writeFileSync(file, KEEP);
    return {
      wasUp,
      leave: () =>
        stack.down(() => {
          const stops = isToStop(own);
          rmSync(own);
          return stops && others().length === 0;
        }),
    };
  });
}
