import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median, quantile, waitUntil } from '@lipsync/local-stack';
import { freePorts, type HttpsReceiver, startHttpsReceiver } from '@lipsync/testkit';
import { serviceEnvironment, serviceMain, startProgram, type World } from './world';

export interface DeliveryFigures {
  /** From the commit of all of them to the arrival of the last. */
  throughput: { per_second: number };
  /** From the commit of a delivery to its first attempt at the receiver, at a constant rate. */
  first_attempt: { offered_per_second: number; deliveries: number; p50_ms: number; p99_ms: number };
}

const ROUNDS = 3;
const DELIVERIES = 3_000;
const OFFERED_PER_SECOND = 100;
const OFFERED_SECONDS = 10;
/** Enough hosts to fill the slots of a dispatcher, which sends at most 8 deliveries to one origin. */
const RECEIVER_HOSTS = Array.from({ length: 32 }, (_, index) => `hooks-${index}.example.test`);

interface Scene {
  world: World;
  receiver: HttpsReceiver;
}

/** Deliveries of one dispatcher to a receiver in this process, which answers every request with 200. */
export async function measureDeliveries(world: World, say: (line: string) => void): Promise<DeliveryFigures> {
  const receiver = await startHttpsReceiver({ hostnames: RECEIVER_HOSTS });
  try {
    const scene = { world, receiver };
    const dispatcher = await startDispatcher(scene);
    try {
      const rates: number[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        const rate = await deliver(scene);
        say(`deliveries, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${rate.toFixed(0)}/s`);
        if (round > 0) rates.push(rate);
      }
      const firstAttempt = await firstAttempts(scene);
      return { throughput: { per_second: median(rates) }, first_attempt: firstAttempt };
    } finally {
      // The sender ends before its receiver.
      await dispatcher.stop();
    }
  } finally {
    await receiver.close();
  }
}

async function deliver(scene: Scene): Promise<number> {
  const before = scene.receiver.requests.length;
  const rows = Array.from({ length: DELIVERIES }, (_, index) => newDelivery(scene.world, index));
  const startedAtMs = await commit(scene.world, rows);
  const lastAtMs = Math.max(...(await arrivals(scene, before, DELIVERIES)).values());
  await untilSettled(scene.world);
  return (DELIVERIES / (lastAtMs - startedAtMs)) * 1000;
}

async function firstAttempts(scene: Scene): Promise<DeliveryFigures['first_attempt']> {
  const count = OFFERED_PER_SECOND * OFFERED_SECONDS;
  const before = scene.receiver.requests.length;
  const commits = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    // Scheduled by the clock rather than one after another, so that a slow moment does not reduce the offered rate.
    await delay(startedAt + (index * 1000) / OFFERED_PER_SECOND - performance.now());
    const row = newDelivery(scene.world, index);
    commits.push(commit(scene.world, [row]).then((atMs) => ({ id: row.eventId, atMs })));
  }
  const committed = await Promise.all(commits);
  const arrivedAtMs = await arrivals(scene, before, count);
  const latencies = committed.map(({ id, atMs }) => Math.max(0, (arrivedAtMs.get(id) ?? NaN) - atMs));
  await untilSettled(scene.world);
  return {
    offered_per_second: OFFERED_PER_SECOND,
    deliveries: latencies.length,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}

/** Arrival time of each request beyond the first `before`, by its event. */
async function arrivals({ receiver }: Scene, before: number, count: number): Promise<Map<string, number>> {
  await receiver.until((requests) => requests.length >= before + count);
  return new Map(
    receiver.requests
      .slice(before, before + count)
      .map(({ headers, receivedAtMs }) => [String(headers['svc-event-id']), receivedAtMs]),
  );
}

interface NewDelivery {
  eventId: string;
  deliveryId: string;
  renderId: string;
  customerId: string;
  host: string;
}

function newDelivery({ db, callers }: World, index: number): NewDelivery {
  return {
    eventId: db.newId('evt'),
    deliveryId: db.newId('dlv'),
    renderId: db.newId('ren'),
    customerId: callers[index % callers.length]?.customerId ?? '',
    host: RECEIVER_HOSTS[index % RECEIVER_HOSTS.length] ?? '',
  };
}

/** About as long as the event of a render with one engine. */
const EVENT_BODY = JSON.stringify({
  id: 'evt_bench',
  type: 'render.completed',
  data: { note: 'x'.repeat(900) },
});

/** Inserts events and deliveries in one transaction, as the end of a record does. Returns when it was committed. */
async function commit({ sql }: World, rows: readonly NewDelivery[]): Promise<number> {
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
    [JSON.stringify(rows), EVENT_BODY],
  );
  return Date.now();
}

async function untilSettled({ sql }: World): Promise<void> {
  const pending = async () =>
    (await sql.query(`SELECT FROM webhook_deliveries WHERE status <> 'delivered'`)).length;
  if (!(await waitUntil(async () => (await pending()) === 0, 30_000)))
    throw new Error('deliveries that arrived were not settled');
}

async function startDispatcher({ world, receiver }: Scene) {
  const [port = 0] = await freePorts(1);
  const authority = path.join(world.folder, 'receiver.pem');
  writeFileSync(authority, receiver.ca);
  return startProgram(world, {
    module: serviceMain('webhook-dispatcher'),
    url: `http://127.0.0.1:${port}/readyz`,
    env: {
      ...serviceEnvironment(world),
      // In production the service refuses the routes that lead to the receiver.
      NODE_ENV: 'development',
      HEALTH_PORT: String(port),
      EGRESS_ROUTES: RECEIVER_HOSTS.map((host) => `${host}:443=${receiver.address}`).join(','),
      EGRESS_CA_FILE: authority,
    },
  });
}
