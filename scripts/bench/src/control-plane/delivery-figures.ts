import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median, waitUntil } from '@lipsync/local-stack';
import { freePorts } from '@lipsync/testkit';
import { type PostRequests } from './bare-poster';
import { type BenchProcess, startProcess } from './bench-process';
import { quantile } from './quantile';
import { RECEIVER_HOSTS } from './receiver-hosts';
import { type Arrivals, type AwaitRequests } from './receiver-process';
import { serviceEnvironment, serviceMain } from './servers';
import { type Caller, type World } from './world';

export interface DeliveryFigures {
  /** Signed posts of a bare loop over kept-alive connections. */
  bare: Posting[];
  /** Deliveries, from the commit of all of them to the arrival of the last. */
  service: Posting;
  ratio_at_equal_connections: number;
  /** The bare loop is fastest over few connections; a service needs many, because receivers are slow. */
  ratio_to_fastest_bare: number;
  /** From the commit of a delivery to its first attempt at the receiver, at a constant rate. */
  first_attempt: { offered_per_second: number; deliveries: number; p50_ms: number; p99_ms: number };
}

interface Posting {
  connections: number;
  per_second: number;
}

const ROUNDS = 5;
const DELIVERIES = 6_000;
/** A dispatcher's default. */
const SLOTS = 256;
const BARE_CONNECTIONS = [64, SLOTS];
const OFFERED_PER_SECOND = 200;
const OFFERED_SECONDS = 5;

/** The receiver, the dispatcher and the bare loop, each in its own process. */
interface Scene {
  world: World;
  receiver: BenchProcess;
  poster: BenchProcess;
  target: Pick<PostRequests, 'port' | 'ca'>;
}

export async function measureDeliveries(world: World): Promise<DeliveryFigures> {
  const processes: BenchProcess[] = [];
  const begin = (module: string, env: Record<string, string> = {}): BenchProcess => {
    const logFile = path.join(world.folder, `${path.basename(module)}.log`);
    const started = startProcess({ module: path.join(__dirname, module), env, logFile });
    processes.push(started);
    return started;
  };
  try {
    const receiver = begin('receiver-process.js');
    const target = await receiver.hear<Scene['target']>();
    const scene = { world, receiver, target, poster: begin('bare-poster.js') };
    processes.push(await startDispatcher(scene));
    return await measure(scene);
  } finally {
    // Stop each sender before its receiver.
    for (const each of processes.reverse()) await each.stop();
  }
}

async function measure(scene: Scene): Promise<DeliveryFigures> {
  const rounds: { bare: number[]; service: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = [];
    for (const connections of BARE_CONNECTIONS) bare.push(await postBare(scene, connections));
    const service = await deliver(scene);
    // The first round is a warm-up.
    if (round > 0) rounds.push({ bare, service });
  }
  const bare = BARE_CONNECTIONS.map((connections, point) => ({
    connections,
    per_second: median(rounds.map((round) => round.bare[point] ?? NaN)),
  }));
  const service = { connections: SLOTS, per_second: median(rounds.map((round) => round.service)) };
  const equal = bare.find(({ connections }) => connections === SLOTS);
  return {
    bare,
    service,
    ratio_at_equal_connections: service.per_second / (equal?.per_second ?? NaN),
    ratio_to_fastest_bare: service.per_second / Math.max(...bare.map(({ per_second }) => per_second)),
    first_attempt: await firstAttempts(scene),
  };
}

async function postBare({ world, receiver, poster, target }: Scene, connections: number): Promise<number> {
  receiver.tell({ requests: DELIVERIES } satisfies AwaitRequests);
  const arrived = receiver.hear<Arrivals>();
  const startedAtMs = Date.now();
  poster.tell({
    ...target,
    requests: DELIVERIES,
    connectionsPerHost: connections / RECEIVER_HOSTS.length,
    secretHex: world.callers[0]?.signingSecret ?? '',
    body: eventBody('evt_bench'),
  } satisfies PostRequests);
  await poster.hear();
  return rate(await arrived, startedAtMs);
}

async function deliver({ world, receiver }: Scene): Promise<number> {
  receiver.tell({ requests: DELIVERIES } satisfies AwaitRequests);
  const arrived = receiver.hear<Arrivals>();
  const rows = Array.from({ length: DELIVERIES }, (_, index) => newDelivery(world, index));
  const startedAtMs = await enqueue(world, rows);
  const perSecond = rate(await arrived, startedAtMs);
  await untilSettled(world);
  return perSecond;
}

function rate({ atMs }: Arrivals, startedAtMs: number): number {
  const arrivals = Object.values(atMs);
  return (arrivals.length / (Math.max(...arrivals) - startedAtMs)) * 1000;
}

async function firstAttempts({ world, receiver }: Scene): Promise<DeliveryFigures['first_attempt']> {
  const count = OFFERED_PER_SECOND * OFFERED_SECONDS;
  receiver.tell({ requests: count } satisfies AwaitRequests);
  const arrived = receiver.hear<Arrivals>();
  const committedAtMs = new Map<string, number>();
  const commits = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    // Scheduled by the clock rather than one after another, so that a slow moment does not reduce the offered rate.
    await delay(startedAt + (index * 1000) / OFFERED_PER_SECOND - performance.now());
    const row = newDelivery(world, index);
    commits.push(enqueue(world, [row]).then((atMs) => committedAtMs.set(row.eventId, atMs)));
  }
  await Promise.all(commits);
  const { atMs } = await arrived;
  const latencies = [...committedAtMs].map(([id, committed]) => Math.max(0, (atMs[id] ?? NaN) - committed));
  await untilSettled(world);
  return {
    offered_per_second: OFFERED_PER_SECOND,
    deliveries: latencies.length,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}

interface NewDelivery {
  eventId: string;
  deliveryId: string;
  renderId: string;
  customerId: string;
  host: string;
}

function newDelivery({ db, callers }: World, index: number): NewDelivery {
  const caller = callers[index % callers.length] as Caller;
  return {
    eventId: db.newId('evt'),
    deliveryId: db.newId('dlv'),
    renderId: db.newId('ren'),
    customerId: caller.customerId,
    host: RECEIVER_HOSTS[index % RECEIVER_HOSTS.length] ?? '',
  };
}

/** Inserts events and deliveries in one transaction, as the end of a record does. Returns when it was committed. */
async function enqueue({ sql }: World, rows: readonly NewDelivery[]): Promise<number> {
  await sql.query(
    `WITH given AS (
       SELECT * FROM jsonb_to_recordset($1)
         AS row("eventId" text, "deliveryId" text, "renderId" text, "customerId" text, host text)
     ), event AS (
       INSERT INTO webhook_events (id, customer_id, render_id, type, body, expires_at)
       SELECT "eventId", "customerId", "renderId", 'render.completed', $2, now() + interval '1 day' FROM given
     )
     INSERT INTO webhook_deliveries (id, event_id, customer_id, url, origin, status, next_attempt_at)
     SELECT "deliveryId", "eventId", "customerId", 'https://' || host || '/hook', 'https://' || host, 'pending',
       clock_timestamp()
     FROM given`,
    [JSON.stringify(rows), eventBody('evt_bench')],
  );
  return Date.now();
}

/** About as long as the event of a render with one engine. */
function eventBody(id: string): string {
  return JSON.stringify({ id, type: 'render.completed', data: { note: 'x'.repeat(900) } });
}

async function untilSettled({ sql }: World): Promise<void> {
  const pending = async () =>
    (await sql.query(`SELECT FROM webhook_deliveries WHERE status <> 'delivered'`)).length;
  if (!(await waitUntil(async () => (await pending()) === 0, 30_000)))
    throw new Error('deliveries that arrived were not settled');
}

async function startDispatcher({ world, target }: Scene): Promise<BenchProcess> {
  const [port = 0] = await freePorts(1);
  const authority = path.join(world.folder, 'receiver.pem');
  writeFileSync(authority, target.ca);
  const dispatcher = startProcess({
    module: serviceMain('webhook-dispatcher'),
    env: {
      ...serviceEnvironment(world),
      // In production the service refuses the routes that lead to the receiver.
      NODE_ENV: 'development',
      HEALTH_PORT: String(port),
      WEBHOOK_SLOTS: String(SLOTS),
      EGRESS_ROUTES: RECEIVER_HOSTS.map((host) => `${host}:443=127.0.0.1:${target.port}`).join(','),
      EGRESS_CA_FILE: authority,
    },
    logFile: path.join(world.folder, 'webhook-dispatcher.log'),
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  if (!(await waitUntil(isReady, 20_000))) throw new Error('the dispatcher did not start');
  return dispatcher;
}
