import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { createStack, machine, mean, quantile } from '@lipsync/local-stack';
import { Client } from 'pg';
import { fitModel, pickupSeconds } from './fit';
import { measuredRenders, slotsOf, type WideLine, wideLines } from './measured-renders';
import { type Profile } from './profile';
import { cpuBetween, type Snapshot, takeSnapshot } from './usage';

/** A stack that has just started is still loading and compiling. */
const SETTLE_MS = 20_000;
/** How long the processes are observed while idle. */
const IDLE_MS = 30_000;

/** Runs `command` against the local stack and measures the duration and resource use of its renders. */
export async function measure(root: string, command: readonly string[]): Promise<Profile> {
  const stack = createStack({ root });
  const { postgres_url, redis_url, logs_dir } = await stack.up();
  const client = new Client({ connectionString: postgres_url });
  await client.connect();
  try {
    const snapshot = (): Promise<Snapshot> => takeSnapshot(client, redis_url, stack);
    await delay(SETTLE_MS);
    const atRest = await snapshot();
    await delay(IDLE_MS);
    const before = await snapshot();
    run(command);
    // Wait for the last statistics of the services' database sessions.
    await delay(2_000);
    const after = await snapshot();
    return await profileOf(client, { atRest, before, after, logs_dir, command });
  } finally {
    await client.end();
  }
}

function run([program, ...args]: readonly string[]): void {
  if (program === undefined) throw new Error('nothing to run: give the command behind --');
  const { status } = spawnSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${program} ended with ${status ?? 'a signal'}`);
}

async function profileOf(
  client: Client,
  run: {
    atRest: Snapshot;
    before: Snapshot;
    after: Snapshot;
    logs_dir: string;
    command: readonly string[];
  },
): Promise<Profile> {
  const { atRest, before, after, logs_dir } = run;
  const lines = (service: string, event: string): WideLine[] =>
    wideLines(logs_dir, service, event, before.atMs);
  const jobLines = [...lines('gpu-worker', 'job'), ...lines('media-worker', 'job')];
  const renders = await measuredRenders(client, jobLines, before.atMs);
  if (renders.length < 10)
    throw new Error(`only ${renders.length} renders were completed: too few to measure`);
  const engines = [...new Set(renders.map(({ engine }) => engine))];
  const ingests = renders.flatMap((render) => render.ingests);
  const atRestFor = seconds(before.atMs - atRest.atMs);
  const spent = seconds(after.atMs - before.atMs);
  const idle = (of: (snapshot: Snapshot) => number): number => (of(before) - of(atRest)) / atRestFor;
  const idleCpu = Object.fromEntries(
    Object.entries(cpuBetween(atRest, before)).map(([name, used]) => [name, round(used / atRestFor)]),
  );
  const perRender = (amount: number): number => round(Math.max(0, amount) / renders.length);
  const beyondIdle = (of: (snapshot: Snapshot) => number): number =>
    perRender(of(after) - of(before) - idle(of) * spent);
  const attempts = lines('webhook-dispatcher', 'webhook_attempt');
  const lags = await firstAttemptLags(client, attempts);
  return {
    about: {
      command: `npm run capacity -- measure --root … -- ${run.command.join(' ')}`,
      measured_at: new Date(before.atMs).toISOString(),
      machine: machine(),
      seconds: round(spent),
    },
    media: fitModel(
      ingests.map(({ media_seconds, service_seconds }) => ({
        mediaSeconds: media_seconds,
        analyzedSeconds: 0,
        serviceSeconds: service_seconds,
      })),
    ),
    engines: Object.fromEntries(
      engines.map((engine) => [
        engine,
        fitModel(
          renders
            .filter((render) => render.engine === engine)
            .map(({ output_seconds, analysed_seconds, service_seconds }) => ({
              mediaSeconds: output_seconds,
              analyzedSeconds: analysed_seconds,
              serviceSeconds: service_seconds,
            })),
        ),
      ]),
    ),
    pickup_seconds: round(pickupSeconds(renders)),
    slots: {
      media: slotsOf(logs_dir, 'media-worker'),
      gpu: slotsOf(logs_dir, 'gpu-worker'),
      webhook: slotsOf(logs_dir, 'webhook-dispatcher'),
    },
    webhook: {
      attempt_seconds: round(mean(attempts.map(({ durationMs }) => durationMs)) / 1000 || 0),
      first_attempt_lag_p50: round(quantile(lags, 0.5) || 0),
      first_attempt_lag_p95: round(quantile(lags, 0.95) || 0),
    },
    per_render: {
      api_requests: perRender(lines('api', 'http_request').length),
      database_transactions: beyondIdle(({ transactions }) => transactions),
      wal_bytes: perRender(after.walBytes - before.walBytes),
      stored_row_bytes: perRender(after.rowBytes - before.rowBytes),
      redis_commands: beyondIdle(({ redisCommands }) => redisCommands),
      cpu_seconds: Object.fromEntries(
        Object.entries(cpuBetween(before, after)).map(([name, used]) => [
          name,
          perRender(used - (idleCpu[name] ?? 0) * spent),
        ]),
      ),
    },
    idle: {
      database_transactions_per_second: round(idle(({ transactions }) => transactions)),
      redis_commands_per_second: round(idle(({ redisCommands }) => redisCommands)),
      cpu_seconds_per_second: idleCpu,
    },
    renders,
  };
}

async function firstAttemptLags(client: Client, attempts: readonly WideLine[]): Promise<number[]> {
  const first = new Map(
    attempts
      .filter(({ fields }) => fields['attempt'] === 1)
      .map(({ atMs, durationMs, fields }) => [String(fields['delivery_id']), atMs - durationMs]),
  );
  const { rows } = await client.query<{ id: string; createdAt: Date }>(
    'SELECT id, created_at AS "createdAt" FROM webhook_deliveries WHERE id = ANY($1)',
    [[...first.keys()]],
  );
  return rows.map(({ id, createdAt }) => seconds(Math.max(0, (first.get(id) ?? 0) - createdAt.getTime())));
}

const seconds = (ms: number): number => ms / 1000;
const round = (value: number): number => Number(value.toPrecision(6));
