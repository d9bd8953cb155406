import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import {
  adminEnvironment,
  childrenOf,
  createProcessManager,
  createState,
  lackingAt,
  processBegan,
  type ProcessSpec,
  provision,
  provisionCustomer,
  readIfThere,
  REPOSITORY_ROOT,
  s3Endpoint,
  s3Options,
  serverPids,
  serviceSpecs,
  type StackCustomer,
  stackLayout,
  type StackState,
  startServers,
  stopServers,
  waitUntil,
} from '@lipsync/local-stack';
import { erasePostgres, freePorts, startS3Server } from '@lipsync/testkit';
import type { History } from './history';
import type { Edit, Failpoint } from './inject';
import { startTcpProxy, type TcpProxy } from './tcp-proxy';

export type Service = 'api' | 'media-worker' | 'gpu-worker' | 'webhook-dispatcher';
export type Backend = 'postgres' | 'redis' | 'store';

/** The last one is erased while it is at work. */
const CUSTOMERS = 4;
const LIMITS = { postPerMinute: 1_000_000, getPerMinute: 1_000_000 };
/** Retries within two minutes instead of a day: longer than any fault lasts. */
const RETRY_SCHEDULE = '2,3,4,6,8,10,12,15,20,25';
/** A silent origin is given up before the end of the run. */
const DOWNLOAD_TIMEOUT_SECONDS = '10';
const READY_MS = 180_000;
/** How soon an orchestrator restarts a process that has ended. */
const RESTART_AFTER_MS = 2_000;

/** A process that can be cut off, and made to end itself. */
interface Breakable {
  name: string;
  /** Its own way to each backend. */
  links: Record<Backend, TcpProxy>;
  armFile: string;
  env: Record<string, string>;
}

export interface Member extends Breakable {
  service: Service;
  spec: ProcessSpec;
  workDir: string;
  /** Base address, of an api. */
  baseUrl: string;
}

interface FleetOptions {
  root: string;
  /** What a mutant changes in the code of the services. */
  edits: readonly Edit[];
  /** Hosts of receivers and origins, and where they listen. */
  routes: string[];
  authority: StackState['authority'];
  history: History;
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Stops whatever a run in this directory started, also one that was killed or could not start everything. */
export async function stopAll(root: string): Promise<void> {
  const layout = stackLayout(root);
  const processes = createProcessManager(layout);
  for (const file of readdirSync(layout.runDir))
    await processes.stop({ name: path.basename(file, '.json'), stopGraceMs: 0 });
  await stopServers(layout);
  for (const folder of existsSync(layout.workDir) ? readdirSync(layout.workDir) : [])
    spawnSync('umount', ['-l', path.join(layout.workDir, folder)], { stdio: 'ignore' });
}

/** Deletes the data of the services and servers of a run that was stopped. */
export function eraseData(root: string): void {
  const { postgresDir, redisDir, s3Dir, workDir } = stackLayout(root);
  erasePostgres(postgresDir);
  for (const folder of [redisDir, s3Dir, workDir]) rmSync(folder, { recursive: true, force: true });
}

/** Two of each service, each with its own proxies to the backends; what ends is restarted. */
export async function startFleet({ root, edits, routes, authority, history }: FleetOptions) {
  const layout = stackLayout(root);
  const processes = createProcessManager(layout);
  const state = { ...(await createState()), authority, egressRoutes: routes };
  state.servers = await startServers(state, layout);
  const store = await startS3Server({ ...s3Options(state, layout), versioning: true });
  await provision(state, layout);
  const customers: StackCustomer[] = [];
  for (let i = 0; i < CUSTOMERS; i++) customers.push(await provisionCustomer(state, `chaos-${i}`, LIMITS));

  const ports = { postgres: state.ports.postgres, redis: state.ports.redis, store: state.ports.s3 };
  const clientLink = await startTcpProxy(ports.store);
  mkdirSync(path.join(root, 'arm'));
  const members: Member[] = [];
  for (const spec of serviceSpecs(state, layout))
    for (const suffix of ['', '-2']) members.push(await member(spec, suffix));
  const operator: Breakable = await breakable('operator', adminEnvironment(state));

  /** Gives a process its own ways to the backends, and what lets it end itself at some point. */
  async function breakable(name: string, env: Readonly<Record<string, string>>): Promise<Breakable> {
    const links = {
      postgres: await startTcpProxy(ports.postgres),
      redis: await startTcpProxy(ports.redis),
      store: await startTcpProxy(ports.store),
    };
    const armFile = path.join(root, 'arm', name);
    return {
      name,
      links,
      armFile,
      env: {
        ...env,
        DATABASE_URL: atPort(env['DATABASE_URL'] ?? '', links.postgres.port),
        REDIS_URL: atPort(env['REDIS_URL'] ?? '', links.redis.port),
        S3_ENDPOINT: atPort(s3Endpoint(state), links.store.port),
        S3_PUBLIC_ENDPOINT: atPort(s3Endpoint(state), clientLink.port),
        NODE_OPTIONS: `--require="${path.join(REPOSITORY_ROOT, 'scripts', 'chaos', 'dist', 'inject.js')}"`,
        CHAOS_ARM_FILE: armFile,
        CHAOS_EDITS: JSON.stringify(edits),
      },
    };
  }

  async function member(spec: ProcessSpec, suffix: string): Promise<Member> {
    const own = await breakable(`${spec.name}${suffix}`, spec.env);
    const { name } = own;
    const [port = 0, healthPort = 0] = await freePorts(2);
    const workDir = path.join(layout.workDir, name);
    const env = {
      ...own.env,
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      WORK_DIR: workDir,
      WEBHOOK_RETRY_SCHEDULE_SECONDS: RETRY_SCHEDULE,
      DOWNLOAD_TIMEOUT_SECONDS,
    };
    const service = spec.name as Service;
    const baseUrl = `http://127.0.0.1:${port}`;
    const lacks = () => lackingAt(`${service === 'api' ? baseUrl : `http://127.0.0.1:${healthPort}`}/readyz`);
    return { ...own, service, workDir, baseUrl, spec: { ...spec, name, env, lacks } };
  }

  /** Processes that the suite ended or is about to end. */
  const doomed = new Set<string>();
  /** Children of services that were seen, to find those that outlive them. */
  const children = new Map<number, string>();
  let keeping = true;

  async function start(one: Member): Promise<void> {
    await processes.start(one.spec);
    doomed.delete(one.name);
    history.add({ kind: 'process', name: one.name, what: 'started', expected: true });
  }

  /** Notes what ended, and why, and starts it again. */
  async function keep(one: Member): Promise<void> {
    while (keeping) {
      await delay(100);
      const pid = processes.findPid(one.name);
      if (pid !== null) {
        for (const child of descendants(pid)) children.set(child, processBegan(child) ?? '');
        continue;
      }
      const fired = existsSync(`${one.armFile}.fired`);
      rmSync(`${one.armFile}.fired`, { force: true });
      history.add({
        kind: 'process',
        name: one.name,
        what: 'ended',
        expected: fired || doomed.has(one.name),
      });
      await delay(RESTART_AFTER_MS);
      if (keeping) await start(one);
    }
  }

  const allReady = async (): Promise<boolean> => {
    const lacking = await Promise.all(members.map(({ spec }) => spec.lacks()));
    return lacking.every((lack) => lack === null);
  };

  const disks = members.filter(({ service }) => service.endsWith('-worker')).map(({ workDir }) => workDir);
  const mounted = disks.filter(mountDisk);
  for (const one of members) await start(one);
  if (!(await waitUntil(allReady, READY_MS))) throw new Error(`not ready: see ${layout.logsDir}`);
  const keepers = members.map(keep);

  const fleet = {
    layout,
    state,
    store,
    customers,
    members,
    /** Whoever runs the operator's commands. */
    operator,
    allReady,
    /** Folders that are small disks of their own. */
    disks: mounted,
    pidOf: (name: string): number => processes.findPid(name) ?? 0,
    /** False when it does not run. */
    signal: (name: string, signal: NodeJS.Signals): boolean => {
      const pid = processes.findPid(name);
      if (pid === null) return false;
      if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') doomed.add(name);
      process.kill(pid, signal);
      return true;
    },
    arm: (one: Breakable, failpoint: Failpoint): void =>
      writeFileSync(one.armFile, JSON.stringify(failpoint)),
    links: (backend: Backend): TcpProxy[] => [
      ...[...members, operator].map(({ links }) => links[backend]),
      ...(backend === 'store' ? [clientLink] : []),
    ],
    /** Id under which a worker claims jobs, as it said when it started. */
    workerId: (name: string): string =>
      readFileSync(path.join(layout.logsDir, `${name}.log`), 'utf8')
        .split('\n')
        .flatMap((line) => /"worker_id":"([^"]+)"/.exec(line)?.[1] ?? [])
        .at(-1) ?? '',
    /** False when one of them did not start. */
    startServers: (): Promise<boolean> =>
      startServers(state, layout).then(
        () => true,
        () => false,
      ),
    serverPid: async (name: 'postgres' | 'redis'): Promise<number> =>
      (await serverPids(layout)).find((server) => server.name === name)?.pid ?? 0,
    /** Sends one inline command to Redis, past the proxies, and returns the start of the answer. */
    redis: (command: string): Promise<string> => {
      const socket = connect(state.ports.redis, '127.0.0.1');
      socket.end(`${command}\r\nQUIT\r\n`);
      return text(socket);
    },
    /** Ends all services in an orderly way and returns the children that outlive them. */
    stopServices: async (): Promise<string[]> => {
      keeping = false;
      await Promise.all(keepers);
      for (const { name } of members) doomed.add(name);
      await Promise.all(members.map(({ spec }) => processes.stop(spec)));
      const lives = ([pid, began]: [number, string]): boolean => processBegan(pid) === began;
      await waitUntil(() => ![...children].some(lives), 5_000);
      return [...children].filter(lives).map(([pid]) => readIfThere(`/proc/${pid}/comm`).trim());
    },
    close: async (): Promise<void> => {
      await fleet.stopServices();
      await store.close();
      await Promise.all(
        [clientLink, ...[...members, operator].flatMap(({ links }) => Object.values(links))].map((p) =>
          p.close(),
        ),
      );
    },
  };
  return fleet;
}

/** A small disk for a worker, if this user may mount one. */
function mountDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', 'size=128m', 'chaos', folder];
  return spawnSync('mount', options, { stdio: 'ignore' }).status === 0;
}

function atPort(url: string, port: number): string {
  const parsed = new URL(url);
  parsed.port = String(port);
  // Without the slash that URL adds to an address without a path.
  return parsed.toString().replace(/\/$/, '');
}

/** Process ids of all children, and theirs. */
function descendants(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendants(child)]);
}

/** Descendants that run this program; zombies excluded. */
export function descendantsRunning(pid: number, program: RegExp): number[] {
  return descendants(pid).filter(
    (child) => program.test(readIfThere(`/proc/${child}/comm`)) && processBegan(child) !== null,
  );
}
