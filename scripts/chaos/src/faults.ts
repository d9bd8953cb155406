import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processBegan, waitUntil } from '@lipsync/local-stack';
import { type Backend, descendantsRunning, type Fleet, type Member, type Service } from './fleet';
import type { FaultEntry, History } from './history';
import type { Failpoint } from './inject';
import type { Observer } from './observe';
import type { Receivers } from './receivers';
import type { ProxyMode, TcpProxy } from './tcp-proxy';

/** What is measured, from a fault's begin (of the first two) or from its end. */
export type Recovery = 'claimed again' | 'taken over' | 'next claim' | 'next create' | 'next delivery';

export interface FaultContext {
  fleet: Fleet;
  observer: Observer;
  receivers: Receivers;
  history: History;
  /** The number that the schedule drew for this fault, in [0, 1). */
  draw: number;
  /** Notes that it is being done now. */
  began: (target: string, held?: FaultEntry['held']) => void;
  /** Aborted when the run ends early. */
  stop: AbortSignal;
}

interface Fault {
  /** How long it lasts, from and to; a fault that is over at once has none. */
  seconds?: readonly [number, number] | undefined;
  /** Does it, and returns how to end it. @throws Error with the reason when it cannot be done here and now */
  begin: (context: FaultContext) => Promise<End | void>;
  recovery?: Recovery | undefined;
}
type End = () => unknown;

/** Longer than a job's lease of 15 s, with the time to notice. */
const PAUSE_MS = 45_000;
const UNHELD_PAUSE_MS = 20_000;

const of = ({ fleet, draw }: FaultContext, ...services: Service[]): Member => {
  const candidates = fleet.members.filter(({ service }) => services.includes(service));
  const member = candidates[Math.floor(draw * candidates.length)];
  if (member === undefined) throw new RangeError('there is no such service');
  return member;
};

/** The jobs that it runs: waits a little for it to have some, as a fault in idleness shows little. */
async function atWork(context: FaultContext, member: Member): Promise<{ id: string; fence: number }[]> {
  let held: { id: string; fence: number }[] = [];
  await waitUntil(async () => {
    held = await context.observer.heldBy(context.fleet.workerId(member.name)).catch(() => []);
    return held.length > 0 || context.stop.aborted;
  }, 6_000);
  return held;
}

const kill = (...services: Service[]): Fault => ({
  begin: async (context) => {
    const member = of(context, ...services);
    const isWorker = member.service.endsWith('-worker');
    const held = isWorker ? await atWork(context, member) : [];
    context.began(member.name, held);
    context.fleet.signal(member.name, 'SIGKILL');
  },
});

/** Stops a process that holds no lease of a job. */
const pauseFor = (seconds: readonly [number, number], service: Service): Fault => ({
  seconds,
  begin: async (context) => {
    const { name } = of(context, service);
    context.began(name);
    context.fleet.signal(name, 'SIGSTOP');
    return () => context.fleet.signal(name, 'SIGCONT');
  },
});

/** Stops a process until its work was taken over, and lets it go on at that moment: the most dangerous one. */
const pause = (...services: Service[]): Fault => ({
  begin: async (context) => {
    const { fleet, observer, stop } = context;
    const member = of(context, ...services);
    const held = await atWork(context, member);
    context.began(member.name, held);
    fleet.signal(member.name, 'SIGSTOP');
    await waitUntil(
      async () => {
        await delay(200);
        if (held.length === 0) return false;
        const later = await observer
          .ask(
            `SELECT FROM jobs JOIN unnest($1::text[], $2::int[]) AS held(id, fence) USING (id)
              WHERE status = 'running' AND jobs.fence > held.fence`,
            [held.map(({ id }) => id), held.map(({ fence }) => fence)],
          )
          .catch(() => []);
        return later.length > 0 || stop.aborted;
      },
      held.length > 0 ? PAUSE_MS : UNHELD_PAUSE_MS,
    );
    return () => fleet.signal(member.name, 'SIGCONT');
  },
});

/** Signals a child of a worker once there is one. */
const child = (program: RegExp, signal: 'SIGKILL' | 'SIGSTOP', ...services: Service[]): Fault => ({
  seconds: signal === 'SIGSTOP' ? [5, 20] : undefined,
  begin: async (context) => {
    const member = of(context, ...services);
    let pids: number[] = [];
    await waitUntil(() => {
      pids = descendantsRunning(context.fleet.pidOf(member.name), program);
      return pids.length > 0 || context.stop.aborted;
    }, 8_000);
    const pid = pids[0];
    if (pid === undefined) throw new Error(`${member.name} had no such child`);
    context.began(`child of ${member.name}`);
    const began = processBegan(pid);
    process.kill(pid, signal);
    const resume = (): void => {
      if (processBegan(pid) === began) process.kill(pid, 'SIGCONT');
    };
    return signal === 'SIGSTOP' ? resume : undefined;
  },
});

/** Who comes to which point. */
const AT_POINT: Readonly<Record<Failpoint['point'], Service[]>> = {
  commit: ['api', 'gpu-worker', 'media-worker', 'webhook-dispatcher'],
  put: ['gpu-worker', 'media-worker'],
  enqueue: ['api', 'media-worker'],
  post: ['webhook-dispatcher'],
};

/** A process ends itself right before or after something that it does. */
const failpoint = (point: Failpoint['point'], side: Failpoint['side']): Fault => ({
  begin: async (context) => {
    const { fleet, stop, draw } = context;
    const member = of(context, ...AT_POINT[point]);
    const pid = fleet.pidOf(member.name);
    context.began(member.name);
    fleet.arm(member, { point, side, nth: 1 + Math.floor((draw * 997) % (point === 'commit' ? 8 : 2)) });
    const fired = await waitUntil(() => fleet.pidOf(member.name) !== pid || stop.aborted, 20_000);
    rmSync(member.armFile, { force: true });
    if (!fired) throw new Error(`${member.name} did not come to this point`);
  },
});

/** Sets connections to a mode. */
const through = (
  mode: ProxyMode,
  seconds: readonly [number, number],
  waysOf: (context: FaultContext) => { target: string; proxies: readonly TcpProxy[] },
  recovery?: Recovery,
): Fault => ({
  seconds,
  recovery,
  begin: async (context) => {
    const { target, proxies } = waysOf(context);
    context.began(target);
    proxies.forEach((proxy) => proxy.set(mode));
    return () => proxies.forEach((proxy) => proxy.set('pass'));
  },
});

/** All ways to a backend, or to receivers and media servers. */
const links = (
  to: Backend | 'receivers',
  mode: ProxyMode,
  seconds: readonly [number, number],
  recovery?: Recovery,
): Fault =>
  through(
    mode,
    seconds,
    ({ fleet, receivers }) => ({
      target: `all ways to ${to}`,
      proxies: to === 'receivers' ? receivers.links : fleet.links(to),
    }),
    recovery,
  );

/** Does something to a server, and undoes it in the end. */
const server = (
  target: string,
  begin: (context: FaultContext) => unknown,
  { end, ...fault }: Omit<Fault, 'begin'> & { end?: (context: FaultContext) => unknown },
): Fault => ({
  ...fault,
  begin: async (context) => {
    context.began(target);
    await begin(context);
    return () => end?.(context);
  },
});

/** Kills a server and starts it again when the fault ends. */
const serverDown = (
  name: 'postgres' | 'redis',
  signal: NodeJS.Signals,
  recovery: Recovery,
  forget = false,
): Fault => ({
  seconds: [2, 12],
  recovery,
  begin: async ({ fleet, began }) => {
    const pid = await fleet.serverPid(name);
    began(name);
    process.kill(pid, signal);
    await waitUntil(() => processBegan(pid) === null, 10_000);
    if (forget) rmSync(path.join(fleet.layout.redisDir, 'appendonlydir'), { recursive: true, force: true });
    // A server that was ended without warning may hold its files for another moment.
    return () => waitUntil(() => fleet.startServers(), 30_000);
  },
});

const fillDisk: Fault = {
  seconds: [8, 15],
  begin: async (context) => {
    const { workDir, name } = of(context, 'gpu-worker', 'media-worker');
    if (!context.fleet.disks.includes(workDir)) throw new Error('this user may not mount a disk');
    context.began(name);
    const ballast = path.join(workDir, 'ballast');
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'], { stdio: 'ignore' });
    return () => rmSync(ballast);
  },
};
const rollingRestart: Fault = {
  begin: async ({ fleet, stop, began }) => {
    began('every process in turn');
    for (const { name, spec } of fleet.members) {
      const before = fleet.pidOf(name);
      fleet.signal(name, 'SIGTERM');
      const isBack = async (): Promise<boolean> =>
        ![0, before].includes(fleet.pidOf(name)) && (await spec.lacks()) === null;
      await waitUntil(async () => stop.aborted || (await isBack()), 60_000);
    }
  },
};

const PROCESS_FAULTS = {
  'worker killed': { ...kill('gpu-worker', 'media-worker'), recovery: 'claimed again' },
  'api killed': kill('api'),
  'dispatcher killed': kill('webhook-dispatcher'),
  'worker paused': { ...pause('gpu-worker', 'media-worker'), recovery: 'taken over' },
  'api paused': pauseFor([5, 20], 'api'),
  // Its deliveries are leased for half a minute.
  'dispatcher paused': pauseFor([32, 38], 'webhook-dispatcher'),
  'inference killed': child(/^(node|MainThread)/, 'SIGKILL', 'gpu-worker'),
  'inference paused': child(/^(node|MainThread)/, 'SIGSTOP', 'gpu-worker'),
  'ffmpeg killed': child(/^ffmpeg/, 'SIGKILL', 'gpu-worker', 'media-worker'),
  'ffmpeg paused': child(/^ffmpeg/, 'SIGSTOP', 'gpu-worker', 'media-worker'),
  'ends before commit': failpoint('commit', 'before'),
  'ends after commit': failpoint('commit', 'after'),
  'ends before put': failpoint('put', 'before'),
  'ends after put': failpoint('put', 'after'),
  'ends before enqueue': failpoint('enqueue', 'before'),
  'ends after enqueue': failpoint('enqueue', 'after'),
  'ends before post': failpoint('post', 'before'),
  'ends after post': failpoint('post', 'after'),
  'rolling restart': rollingRestart,
} satisfies Record<string, Fault>;

const BACKEND_FAULTS = {
  'redis flushed': server('redis', ({ fleet }) => fleet.redis('FLUSHALL'), { recovery: 'next claim' }),
  'redis full': server('redis', ({ fleet }) => fleet.redis('CONFIG SET maxmemory 1'), {
    seconds: [5, 15],
    end: ({ fleet }) => fleet.redis('CONFIG SET maxmemory 0'),
    recovery: 'next claim',
  }),
  'redis crashed': serverDown('redis', 'SIGKILL', 'next claim'),
  'redis lost': serverDown('redis', 'SIGKILL', 'next claim', true),
  'redis silent': links('redis', 'silence', [5, 20], 'next claim'),
  'redis half-open': links('redis', 'half_open', [1, 2], 'next claim'),
  'redis reset': links('redis', 'reset', [2, 8], 'next claim'),
  'postgres sessions ended': server(
    'postgres',
    ({ observer }) =>
      observer.ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`),
    { recovery: 'next create' },
  ),
  'postgres crashed': serverDown('postgres', 'SIGQUIT', 'next create'),
  'postgres session killed': server(
    'one session, which makes the server recover',
    async ({ observer }) => {
      const [victim] = await observer.ask<{ pid: number }>(`SELECT pid FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY pid LIMIT 1`);
      if (victim === undefined) throw new Error('it had no session');
      process.kill(victim.pid, 'SIGKILL');
    },
    { recovery: 'next create' },
  ),
  'postgres silent': links('postgres', 'silence', [5, 20], 'next create'),
  'postgres half-open': links('postgres', 'half_open', [1, 2], 'next create'),
  'postgres reset': links('postgres', 'reset', [2, 8], 'next create'),
  'postgres answers lost': links('postgres', 'answers_lost', [1, 4], 'next create'),
  'postgres slow': links('postgres', 'slow', [5, 10]),
  'worker cut off': through('silence', [18, 25], (context) => {
    const { links: own, name } = of(context, 'gpu-worker', 'media-worker');
    return { target: `way of ${name} to postgres`, proxies: [own.postgres] };
  }),
  'store silent': links('store', 'silence', [5, 20]),
  'store half-open': links('store', 'half_open', [1, 2]),
  'store reset': links('store', 'reset', [2, 8]),
  'store answers lost': links('store', 'answers_lost', [2, 5]),
  'store slow': links('store', 'slow', [5, 10]),
  'store refuses': server(
    'half of the requests',
    ({ fleet }) => fleet.store.faults.set({ slowDownRate: 0.3, resetRate: 0.2 }),
    { seconds: [5, 15], end: ({ fleet }) => fleet.store.faults.clear() },
  ),
  'receivers down': links('receivers', 'reset', [5, 15], 'next delivery'),
  'receivers silent': links('receivers', 'silence', [10, 20], 'next delivery'),
  'receivers slow': links('receivers', 'slow', [5, 15]),
  'disk full': fillDisk,
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof PROCESS_FAULTS | keyof typeof BACKEND_FAULTS;
export const FAULTS: Readonly<Record<FaultName, Fault>> = { ...PROCESS_FAULTS, ...BACKEND_FAULTS };
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];
/** Faults of different lanes may meet; those of one follow each other. */
export const LANES = ['process', 'backend'] as const;
export const laneOf = (name: FaultName): (typeof LANES)[number] =>
  name in PROCESS_FAULTS ? 'process' : 'backend';
