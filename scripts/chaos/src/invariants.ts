import type { Erased } from './erasure';
import type { Attempt, Call, Entry } from './history';
import type { Wish } from './load';
import type { Abandoned, Change, Row, Table } from './observe';

/** Everything that the checker judges, of all customers but the erased one; it knows the service only by this. */
export interface Evidence {
  entries: readonly Entry[];
  changes: readonly Change[];
  /** All rows after the run. */
  rows: Readonly<Record<Table, readonly Row[]>>;
  /** By nonce. */
  wishes: ReadonlyMap<string, Wish>;
  /** Found while every part was healthy. */
  abandoned: readonly Abandoned[];
  /** Frames of what a customer downloads, by completed run; null when there is nothing. */
  outputs: ReadonlyMap<string, number | null>;
  /** What was left after an orderly stop. */
  leftovers: readonly string[];
  /** Places in logs that hold a secret. */
  leaks: readonly string[];
  erased: Erased;
}

const TERMINAL = new Set<unknown>(['completed', 'failed', 'cancelled']);
const SETTLED = new Set<unknown>([...TERMINAL, 'ready', 'finished', 'delivered']);
const STATUSES = new Set<unknown>([400, 401, 404, 405, 409, 410, 413, 429, 503]);
const SIGNATURE_AGE_MS = 300_000;
const DELIVERY_ATTEMPTS = 11;
const JOB_ATTEMPTS = 3;
const RECORD_CALL = /^(create|get|cancel)_(render|preparation)$/;

const calls = ({ entries }: Evidence): Call[] => entries.filter((entry) => entry.kind === 'call');
const attempts = ({ entries }: Evidence): Attempt[] => entries.filter((entry) => entry.kind === 'attempt');
const changesOf = ({ changes }: Evidence, ...tables: Table[]): Change[] =>
  changes.filter(({ tbl }) => tables.some((table) => table === tbl));
const records = ({ rows }: Evidence): Row[] => [...rows.renders, ...rows.preparations];
const nonceOf = ({ webhook_url: url }: Row): string =>
  (typeof url === 'string' ? url : '').split('/')[5] ?? '';
const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
const progress = (body: unknown): number => Number(field(body, 'progress_percent') ?? 0);
const isOk = ({ status }: Call): boolean => status !== null && status < 300;

function groupsOf<T>(items: readonly T[], keyOf: (item: T) => unknown): T[][] {
  const groups = new Map<unknown, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

/** Groups whose items differ in what `valueOf` says. */
function atOdds<T>(items: readonly T[], keyOf: (item: T) => unknown, valueOf: (item: T) => unknown): T[][] {
  return groupsOf(items, keyOf).filter((group) => new Set(group.map(valueOf)).size > 1);
}

/** Pairs of answers about one record, the first of which had come before the second was asked for. */
function successive(evidence: Evidence): [unknown, unknown][] {
  const answers = calls(evidence).filter((call) => RECORD_CALL.test(call.op) && isOk(call));
  return groupsOf(answers, ({ body }) => field(body, 'id')).flatMap((group) => {
    const sorted = [...group].sort((a, b) => a.at - b.at);
    return sorted.flatMap((later): [unknown, unknown][] => {
      const earlier = sorted.filter(({ answeredAt }) => answeredAt <= later.at).at(-1);
      return earlier === undefined ? [] : [[earlier.body, later.body]];
    });
  });
}

/** Ids of rows with the sequence number and transaction of the change that ended them. */
function endsOf(evidence: Evidence, ...tables: Table[]): Map<unknown, Change> {
  const ends = changesOf(evidence, ...tables).filter(({ now }) => TERMINAL.has(now['status']));
  return new Map(ends.map((change) => [change.id, change]));
}

/** Runs of renders whose media are good. */
function goodRuns({ rows, wishes }: Evidence): { run: Row; wish: Wish }[] {
  const wishOf = new Map(rows.renders.map((render) => [render['id'], wishes.get(nonceOf(render))]));
  return rows.engine_runs.flatMap((run) => {
    const wish = wishOf.get(run['render_id']);
    return wish?.isGood ? [{ run, wish }] : [];
  });
}

/** Columns of usage with those of the run, and with the fields that its customer sees. */
const AS_IN_RUN = {
  customer_id: 'customer_id',
  render_id: 'render_id',
  engine: 'engine',
  outcome: 'status',
  finished_at: 'updated_at',
};
const AS_SEEN = {
  input_video_seconds: 'input_video_seconds',
  input_audio_seconds: 'input_audio_seconds',
  output_seconds: 'output_seconds',
  frames: 'rendered_frames',
  gpu_seconds: 'gpu_inference_seconds',
  cost_usd: 'estimated_compute_usd',
};

function isUsageOf(used: Row, run: Row | undefined): boolean {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
  return (
    run !== undefined &&
    Object.entries(AS_IN_RUN).every(([column, own]) => same(used[column], run[own])) &&
    Object.entries(AS_SEEN).every(([column, own]) => same(used[column], field(run['usage'], own)))
  );
}

/** What must hold, by name; each returns what contradicts it. I1 to I16: docs/fault-testing.md. */
const INVARIANTS = {
  /** I1 */
  'accepted means there': (evidence: Evidence) => {
    const known = new Set(records(evidence).map(({ id }) => id));
    return calls(evidence).filter((call) => {
      const isLost = call.op.startsWith('create_') && call.key !== undefined && isOk(call);
      const isHidden = call.op.startsWith('get_') && call.status === 404 && !call.foreign;
      return (isLost && !known.has(String(field(call.body, 'id')))) || isHidden;
    });
  },
  /** I1: what is open is somebody's business, as long as every part is healthy. */
  'nothing is abandoned': ({ abandoned }: Evidence) => abandoned.filter(({ kind }) => kind !== 'lease'),
  'leases expire': ({ abandoned }: Evidence) => abandoned.filter(({ kind }) => kind === 'lease'),
  /** I2, as the database and as pollers saw it */
  'an end is final': (evidence: Evidence) => [
    ...changesOf(evidence, 'renders', 'preparations', 'engine_runs', 'jobs', 'assets').filter(
      ({ was, now }) => was !== null && SETTLED.has(was['status']) && was['status'] !== now['status'],
    ),
    ...successive(evidence).filter(
      ([a, b]) => TERMINAL.has(field(a, 'status')) && field(a, 'status') !== field(b, 'status'),
    ),
  ],
  /** I3, I13 */
  'polls are monotone': (evidence: Evidence) =>
    successive(evidence).filter(([a, b]) => {
      const runs = (body: unknown): unknown[] => (field(body, 'engines') as unknown[] | undefined) ?? [];
      const isLater = (run: unknown) => (other: unknown) => field(run, 'engine') === field(other, 'engine');
      return (
        progress(a) > progress(b) ||
        String(field(a, 'updated_at')) > String(field(b, 'updated_at')) ||
        runs(a).some((run) => progress(run) > progress(runs(b).find(isLater(run))))
      );
    }),
  /** I4 */
  'one end, one event': (evidence: Evidence) =>
    records(evidence).filter((record) => {
      const isOwn = (event: Row): boolean => (event['render_id'] ?? event['preparation_id']) === record['id'];
      const own = evidence.rows.webhook_events.filter(isOwn);
      const isWanted = TERMINAL.has(record['status']) && record['webhook_url'] !== null;
      const fits = own.every(({ type }) => String(type).endsWith(`.${String(record['status'])}`));
      return own.length !== (isWanted ? 1 : 0) || !fits;
    }),
  'an end and its event are one transaction': (evidence: Evidence) => {
    const ends = endsOf(evidence, 'renders', 'preparations');
    return changesOf(evidence, 'webhook_events').filter(
      ({ now, xid }) => ends.get(now['render_id'] ?? now['preparation_id'])?.xid !== xid,
    );
  },
  /** I5, I6 */
  'receivers see one event': (evidence: Evidence) => [
    ...atOdds(
      attempts(evidence),
      ({ recordId }) => recordId,
      ({ eventId, type, deliveryId, bodyDigest }) => `${eventId} ${type} ${deliveryId} ${bodyDigest}`,
    ),
    ...attempts(evidence).filter(({ path }) => path === '/elsewhere'),
  ],
  /** I7 */
  'signatures are valid and fresh': (evidence: Evidence) =>
    attempts(evidence).filter(
      ({ isSigned, signedAt, at }) => !isSigned || Math.abs(at - signedAt) > SIGNATURE_AGE_MS,
    ),
  /** I8 */
  'delivered means answered with success': (evidence: Evidence) => {
    const accepting = attempts(evidence).filter(({ answered }) => answered !== null && answered < 300);
    const accepted = new Set(accepting.map(({ deliveryId }) => deliveryId));
    return changesOf(evidence, 'webhook_deliveries').filter(
      ({ id, now }) => now['status'] === 'delivered' && !accepted.has(id),
    );
  },
  /** I9; every receiver of a run answers well in the end. */
  'events are delivered': ({ rows }: Evidence) =>
    rows.webhook_deliveries.filter(
      ({ status, attempts: made }) => status === 'failed' || Number(made) > DELIVERY_ATTEMPTS,
    ),
  /** I10: the key of an output names the claim under which it was made. */
  'results come from the last claim': (evidence: Evidence) => {
    const finishing = changesOf(evidence, 'jobs').filter(({ now }) => now['status'] === 'finished');
    const claims = new Map(finishing.map(({ was, now }) => [now['engine_run_id'], was?.['fence']]));
    return changesOf(evidence, 'engine_runs').filter(
      ({ id, now }) =>
        now['status'] === 'completed' && String(now['output_key']).split('/')[2] !== String(claims.get(id)),
    );
  },
  'fences never go back': (evidence: Evidence) =>
    changesOf(evidence, 'jobs').filter(({ was, now }) => {
      if (was === null) return false;
      const isTaken = now['status'] === 'running' && now['worker_id'] !== was['worker_id'];
      return Number(now['fence']) < Number(was['fence']) + (isTaken ? 1 : 0);
    }),
  'outputs are there with their frames': (evidence: Evidence) =>
    goodRuns(evidence).filter(({ run, wish }) => {
      const frames = evidence.outputs.get(String(run['id'])) ?? 0;
      return run['status'] === 'completed' && Math.abs(frames - wish.frames) > 1;
    }),
  /** Faults may use up the attempts of a job; nothing else may make good work fail. */
  'good work succeeds': (evidence: Evidence) => {
    const jobOf = new Map(evidence.rows.jobs.map((job) => [job['engine_run_id'], job]));
    return goodRuns(evidence).filter(
      ({ run }) =>
        run['status'] === 'failed' && Number(jobOf.get(run['id'])?.['attempts'] ?? 0) < JOB_ATTEMPTS,
    );
  },
  'jobs end with their record': (evidence: Evidence) => {
    const ends = endsOf(evidence, 'engine_runs', 'preparations');
    const endOf = (job: Row) => ends.get(job['engine_run_id'] ?? job['preparation_id']);
    return [
      ...evidence.rows.jobs.filter((job) => job['status'] !== 'finished' && endOf(job) !== undefined),
      ...changesOf(evidence, 'jobs').filter(
        ({ seq, now }) => now['status'] === 'running' && seq > (endOf(now)?.seq ?? Infinity),
      ),
    ];
  },
  /** I11 */
  'one key, one record': (evidence: Evidence) => {
    const accepted = calls(evidence).filter((call) => call.key !== undefined && isOk(call));
    const wished = records(evidence).filter((record) => nonceOf(record) !== '');
    return [
      ...atOdds(
        accepted,
        ({ key }) => key,
        ({ body }) => field(body, 'id'),
      ),
      ...accepted.filter(({ altered }) => altered),
      ...atOdds(wished, nonceOf, ({ id }) => id),
    ];
  },
  /** I12 */
  'nobody sees what is not theirs': (evidence: Evidence) =>
    calls(evidence).filter(({ foreign, status }) => foreign && ![null, 404, 503].includes(status)),
  /** I14 */
  'events say how the record ended': (evidence: Evidence) => {
    const statusOf = new Map(records(evidence).map(({ id, status }) => [id, status]));
    return attempts(evidence).filter(
      ({ recordId, recordStatus, type }) =>
        statusOf.get(recordId) !== recordStatus || !type.endsWith(`.${recordStatus}`),
    );
  },
  /** I15 */
  'usage is written once, with the end of its run': (evidence: Evidence) => {
    const ends = endsOf(evidence, 'engine_runs');
    const used = new Set(evidence.rows.run_usage.map(({ id }) => id));
    return [
      ...changesOf(evidence, 'run_usage').filter(
        ({ id, was, xid }) => was !== null || ends.get(id)?.xid !== xid,
      ),
      ...evidence.rows.engine_runs.filter(({ id, status }) => TERMINAL.has(status) !== used.has(id)),
    ];
  },
  'usage is what the record shows': ({ rows }: Evidence) => {
    const runOf = new Map(rows.engine_runs.map((run) => [run['id'], run]));
    return rows.run_usage.filter((used) => !isUsageOf(used, runOf.get(used['id'])));
  },
  /** I16 */
  'an erasure ends, with one record': ({ erased: { records } }: Evidence) =>
    records.length === 1 && records[0]?.state === 'erased' ? [] : [records],
  'nothing is left of whom is erased': ({ erased }: Evidence) => erased.traces,
  'an erasure takes nothing of others': ({ erased }: Evidence) => erased.missing,
  'errors are in the contract': (evidence: Evidence) =>
    calls(evidence).filter((call) => {
      if (call.status === null || isOk(call)) return false;
      const error = field(call.body, 'error');
      const isRepeatable = call.status !== 503 || field(error, 'retryable') === true;
      return !STATUSES.has(call.status) || typeof field(error, 'code') !== 'string' || !isRepeatable;
    }),
  'no process ends by itself': ({ entries }: Evidence) =>
    entries.filter((entry) => entry.kind === 'process' && entry.what === 'ended' && !entry.expected),
  'nothing is left over': ({ leftovers }: Evidence) => leftovers,
  'no secret in a log': ({ leaks }: Evidence) => leaks,
} satisfies Record<string, (evidence: Evidence) => readonly unknown[]>;

export type InvariantName = keyof typeof INVARIANTS;

/** The violated invariants, each with what contradicts it. */
export function check(evidence: Evidence): Partial<Record<InvariantName, readonly unknown[]>> {
  const found = Object.entries(INVARIANTS).map(([name, examine]) => [name, examine(evidence)] as const);
  return Object.fromEntries(found.filter(([, violations]) => violations.length > 0));
}
