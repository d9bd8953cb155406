import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { leaksInLogs, secretsOf, untilInterrupted } from '@lipsync/local-stack';
import { ffprobe } from '@lipsync/testkit';
import { eraseAtWork, lookForErased, ofOthers } from './erasure';
import type { FaultName } from './faults';
import { eraseData, type Fleet, startFleet, stopAll } from './fleet';
import { type History, openHistory } from './history';
import { check } from './invariants';
import { type LoadOptions, runLoad } from './load';
import { makeClips } from './media';
import { checkMutant, type Mutant } from './mutants';
import { type Abandoned, createObserver, type Observer } from './observe';
import { type Receivers, startReceivers } from './receivers';
import { type ChaosReport, recoveriesOf } from './report';
import { planFaults, runFaults } from './schedule';

interface ChaosOptions {
  seed: number;
  minutes: number;
  /** All by default. */
  faults?: readonly FaultName[];
  mutant?: Mutant;
  actors: number;
  /** Directory for everything that the run writes: history, report, logs, data. */
  root: string;
  /** Keeps the data of the servers, too. */
  keep: boolean;
  say: (line: string) => void;
}

/** Time for what was accepted to end, once every part is healthy. */
const DRAIN_MS = 240_000;
/** What nobody has touched for this long is abandoned: a lease and two rounds of the reconciler are a third of it. */
const ABANDONED_SECONDS = 40;

/** One run: load and faults, then peace until everything has ended, an orderly stop, and the judgment. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { mutant, root } = options;
  if (mutant) checkMutant(mutant);
  await stopAll(root);
  eraseData(root);
  rmSync(root, { recursive: true });
  mkdirSync(root);
  const history = openHistory(path.join(root, 'history.jsonl'));
  const clips = await makeClips();
  const files = { 'short.mp4': clips.short.video, 'short.wav': clips.short.audio };
  const receivers = await startReceivers(history, files);
  const { authority, routes } = receivers;
  let fleet: Fleet | undefined;
  try {
    fleet = await startFleet({ root, edits: mutant?.edits ?? [], authority, routes, history });
    const report = await untilInterrupted(experiment(options, { history, clips, receivers, fleet }));
    writeFileSync(path.join(root, 'report.json'), JSON.stringify(report, null, 2));
    return report;
  } finally {
    await fleet?.close();
    await receivers.close();
    await stopAll(root);
    if (!options.keep) eraseData(root);
    await history.close();
  }
}

interface Setting extends Pick<LoadOptions, 'clips'> {
  history: History;
  receivers: Receivers;
  fleet: Fleet;
}

async function experiment(options: ChaosOptions, setting: Setting): Promise<ChaosReport> {
  const { seed, minutes, mutant, actors, say } = options;
  const { history, clips, receivers, fleet } = setting;
  const observer = createObserver(fleet.state.servers.postgresUrl);
  await observer.install();
  receivers.verifyWith(fleet.customers.map(({ signing_secret }) => signing_secret));
  const apis = fleet.members.filter(({ service }) => service === 'api').map(({ baseUrl }) => baseUrl);
  const plan = planFaults(seed, minutes, mutant?.faults ?? options.faults);
  say(`seed ${seed}: ${plan.length} faults in ${minutes} min${mutant ? `, ${mutant.name}` : ''}`);

  const stop = new AbortController();
  const loading = runLoad({ seed, actors, apis, customers: fleet.customers, clips, history }, stop.signal);
  const faulting = runFaults(plan, { fleet, observer, receivers, history, stop: stop.signal });
  const deadline = Date.now() + minutes * 60_000 + DRAIN_MS;
  const erasing = eraseAtWork({ seed, fleet, observer, history, deadline });
  await delay(minutes * 60_000);
  stop.abort();
  await faulting;
  const wishes = await loading;
  say('every part is healthy again: waiting for what was accepted to end');
  const { isDone, abandoned, seconds } = await drain(fleet, observer);
  await erasing;

  const outputs = await downloadOutputs(fleet, observer, apis[0] ?? '');
  const leftovers = await stopAndLook(fleet, observer, isDone);
  const [changes, rows] = [await observer.changes(), await observer.rows()];
  const { entries } = history;
  const leaks = leaksInLogs(fleet.layout.logsDir, {
    ...secretsOf(fleet.state, fleet.customers),
    'a signed address': 'X-Amz-Signature=',
  });
  const erased = await lookForErased(fleet, observer, entries);
  const others = ofOthers(fleet, { entries, changes, rows });
  const violations = check({ ...others, wishes, outputs, abandoned, leftovers, leaks, erased });
  const rendersThat = (status: string): number =>
    rows.renders.filter((row) => row['status'] === status).length;
  return {
    seed,
    minutes,
    mutant: mutant?.name ?? null,
    caughtBy: mutant?.caughtBy ?? null,
    violations,
    drainSeconds: isDone || abandoned.length > 0 ? seconds : null,
    faults: entries.filter((entry) => entry.kind === 'fault'),
    recoveries: recoveriesOf(entries, changes),
    counts: {
      requests: entries.filter(({ kind }) => kind === 'call').length,
      webhooks: entries.filter(({ kind }) => kind === 'attempt').length,
      renders: rows.renders.length,
      completed: rendersThat('completed'),
      cancelled: rendersThat('cancelled'),
      failed: rendersThat('failed'),
      outputs: outputs.size,
      'calls to erase': entries.filter(({ kind }) => kind === 'erase').length,
    },
  };
}

interface Drained {
  isDone: boolean;
  abandoned: Abandoned[];
  seconds: number;
}

/** Waits until nothing is open; ends early when something open is nobody's business any more. */
async function drain(fleet: Fleet, observer: Observer): Promise<Drained> {
  let healthySince = Date.now();
  const startedAt = Date.now();
  for (;;) {
    const seconds = (Date.now() - startedAt) / 1000;
    if ((await observer.openCount()) === 0) return { isDone: true, abandoned: [], seconds };
    if (!(await fleet.allReady())) healthySince = Date.now();
    const isPatient = Date.now() - healthySince > ABANDONED_SECONDS * 1000;
    const abandoned = isPatient ? await observer.abandoned(ABANDONED_SECONDS) : [];
    if (abandoned.length > 0 || Date.now() - startedAt > DRAIN_MS)
      return { isDone: false, abandoned, seconds };
    await delay(500);
  }
}

/** Downloads the outputs of completed runs as their customers would, and counts their frames. */
async function downloadOutputs(
  fleet: Fleet,
  observer: Observer,
  api: string,
): Promise<Map<string, number | null>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'chaos-outputs-'));
  const file = path.join(folder, 'output.mp4');
  const runs = await observer.ask<{ id: string; render_id: string; engine: string; customer_id: string }>(
    `SELECT id, render_id, engine, customer_id FROM engine_runs WHERE status = 'completed'`,
  );
  const frames = new Map<string, number | null>();
  for (const { id, render_id, engine, customer_id } of runs) {
    const key = fleet.customers.find((customer) => customer.id === customer_id)?.api_key ?? '';
    const answer = await download(`${api}/v1/renders/${render_id}`, { authorization: `Bearer ${key}` });
    const record = JSON.parse(answer?.toString() ?? '{}') as {
      engines?: { engine: string; output?: { url: string } }[];
    };
    const url = record.engines?.find((result) => result.engine === engine)?.output?.url;
    const output = url === undefined ? null : await download(url);
    frames.set(id, null);
    if (output === null) continue;
    writeFileSync(file, output);
    const count = ['-select_streams', 'v:0', '-count_packets', '-show_entries', 'stream=nb_read_packets'];
    frames.set(id, Number(await ffprobe([...count, '-of', 'csv=p=0', file])) || null);
  }
  rmSync(folder, { recursive: true });
  return frames;
}

/** Null when it is not there. Tries again, because a connection that a fault left half-open may be used once more. */
async function download(url: string, headers: Record<string, string> = {}): Promise<Buffer | null> {
  for (let tries = 0; tries < 3; tries++) {
    try {
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
      const body = Buffer.from(await response.arrayBuffer());
      return response.ok ? body : null;
    } catch {
      // No answer.
    }
  }
  return null;
}

/** Stops the services as an operator would and names what they leave behind. */
async function stopAndLook(fleet: Fleet, observer: Observer, isDone: boolean): Promise<string[]> {
  const orphans = await fleet.stopServices();
  const leases = await observer.ask<{ id: string }>(
    `SELECT id FROM jobs WHERE lease_until IS NOT NULL UNION ALL SELECT id FROM webhook_deliveries WHERE lease_until IS NOT NULL`,
  );
  const locks = await observer.ask(`SELECT FROM pg_locks WHERE locktype = 'advisory'`);
  const redisLocks = await fleet.redis("EVAL \"return #redis.call('KEYS', 'lipsync:*:lock')\" 0");
  const folders = fleet.members
    .map(({ workDir }) => path.join(workDir, 'jobs'))
    .flatMap((jobs) => (existsSync(jobs) ? readdirSync(jobs) : []));
  return [
    ...orphans.map((name) => `process ${name}`),
    ...(isDone ? leases.map(({ id }) => `lease of ${id}`) : []),
    ...locks.map(() => 'an advisory lock'),
    ...(/^:0/.test(redisLocks) || !isDone ? [] : [`locks in redis: ${redisLocks.split('\r\n')[0] ?? ''}`]),
    ...folders.map((name) => `folder ${name}`),
  ];
}
