import type { Attempt, Call, Entry } from './history';
import type { Wish } from './load';
import type { Abandoned, Change, Row, Table } from './observe';

/** Everything that the checker judges; it knows the service only by this. */
export interface Evidence {
  entries: readonly Entry[];
  changes: readonly Change[];
  /** All rows after the run. */
  rows: Readonly<Record<Table, readonly Row[]>>;
  /** By nonce. */
  wishes: ReadonlyMap<string, Wish>;
  /** Found while every part was healthy. */
  abandoned: readonly Abandoned[];
  /** Completed runs, by id, and the frames of the video that a customer downloads; null when there is none. */
  outputs: ReadonlyMap<string, number | null>;
  /** What was left after an orderly stop. */
  leftovers: readonly string[];
  /** Places in logs that hold a secret. */
  leaks: readonly string[];
}

const TERMINAL = new Set<unknown>(['completed', 'failed', 'cancelled']);
const SETTLED = new Set<unknown>([...TERMINAL, 'ready', 'finished', 'delivered']);
const TOLERANCE_MS = 300_000;
const MAX_DELIVERY_ATTEMPTS = 11;
const MAX_JOB_ATTEMPTS = 3;

const calls = ({ entries }: Evidence): Call[] => entries.filter((entry) => entry.kind === 'call');
const attempts = ({ entries }: Evidence): Attempt[] => entries.filter((entry) => entry.kind === 'attempt');
const of = ({ changes }: Evidence, ...tables: Table[]): Change[] =>
  changes.filter(({ tbl }) => (tables as string[]).includes(tbl));
const records = ({ rows }: Evidence): Row[] => [...rows.renders, ...rows.preparations];
const nonceOf = (url: unknown): string => (typeof url === 'string' ? url : '').split('/')[5] ?? '';
const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;

function groups<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const grouped = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) grouped.set(key, [...(grouped.get(key) ?? []), item]);
  }
  return grouped;
}

/** Groups in which `valueOf` takes several values. */
function differing<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
  valueOf: (item: T) => unknown,
): string[] {
  return [...groups(items, keyOf)].flatMap(([key, group]) => {
    const values = new Set(group.map(valueOf));
    return values.size > 1 ? [`${key}: ${[...values].join(', ')}`] : [];
  });
}

/** Answers about one record, each with an answer that had come before it was asked for. */
function inOrder(evidence: Evidence, op: RegExp): [Call, Call][] {
  const answered = calls(evidence).filter(
    ({ op: name, status, body }) => op.test(name) && status !== null && status < 300 && field(body, 'id'),
  );
  return [...groups(answered, ({ body }) => String(field(body, 'id')))].flatMap(([, group]) => {
    const sorted = [...group].sort((a, b) => a.at - b.at);
    return sorted.flatMap((later): [Call, Call][] => {
      const earlier = sorted.filter(({ answeredAt }) => answeredAt <= later.at).at(-1);
      return earlier === undefined ? [] : [[earlier, later]];
    });
  });
}

const RECORD_OPS = /^(create|get|cancel)_(render|preparation)$/;

/** Each by name: what holds, found as a list of violations. The numbers are those of the reliability plan. */
export const INVARIANTS = {
  /** I1. */
  'accepted means there': (evidence) => {
    const known = new Set(records(evidence).map(({ id }) => id));
    const accepted = calls(evidence).filter(
      ({ op, status }) => /^create_(render|preparation)$/.test(op) && status === 202,
    );
    const lost = accepted
      .filter(({ body }) => !known.has(String(field(body, 'id'))))
      .map(({ body }) => `${String(field(body, 'id'))} is not in the database`);
    const hidden = calls(evidence).filter(
      ({ op, status, foreign }) => op.startsWith('get_') && status === 404 && !foreign,
    );
    return [...lost, ...hidden.map(({ id, op }) => `${op} of ${id} answered 404`)];
  },
  /** I1: the end of what was accepted is somebody's business, as long as every part is healthy. */
  'nothing is abandoned': ({ abandoned }) =>
    abandoned.filter(({ kind }) => kind !== 'lease').map(({ kind, id }) => `${kind} ${id}`),
  'leases expire': ({ abandoned }) =>
    abandoned.filter(({ kind }) => kind === 'lease').map(({ id }) => `job ${id} is held by nobody`),
  /** I2, by the database and by polls. */
  'an end is final': (evidence) => [
    ...of(evidence, 'renders', 'preparations', 'engine_runs', 'jobs', 'assets')
      .filter(({ was, now }) => was !== null && SETTLED.has(was['status']) && was['status'] !== now['status'])
      .map(
        ({ tbl, id, was, now }) => `${tbl} ${id}: ${String(was?.['status'])} became ${String(now['status'])}`,
      ),
    ...inOrder(evidence, RECORD_OPS)
      .filter(
        ([a, b]) =>
          TERMINAL.has(field(a.body, 'status')) && field(a.body, 'status') !== field(b.body, 'status'),
      )
      .map(
        ([a, b]) =>
          `${String(field(a.body, 'id'))}: ${String(field(a.body, 'status'))} was seen as ${String(field(b.body, 'status'))}`,
      ),
  ],
  /** I3, I13. */
  'polls are monotone': (evidence) =>
    inOrder(evidence, RECORD_OPS).flatMap(([a, b]) => {
      const runs = (call: Call) =>
        (field(call.body, 'engines') as { engine: string; progress_percent: number }[] | undefined) ?? [];
      const fell = (name: string): boolean => String(field(a.body, name)) > String(field(b.body, name));
      const id = String(field(a.body, 'id'));
      return [
        ...(Number(field(a.body, 'progress_percent')) > Number(field(b.body, 'progress_percent'))
          ? [`${id}: progress fell`]
          : []),
        ...(fell('updated_at') ? [`${id}: updated_at fell`] : []),
        ...runs(a)
          .filter(({ engine, progress_percent }) =>
            runs(b).some((run) => run.engine === engine && run.progress_percent < progress_percent),
          )
          .map(({ engine }) => `${id}: progress of ${engine} fell`),
      ];
    }),
  /** I4. */
  'one end, one event': (evidence) => {
    const events = groups(evidence.rows.webhook_events, ({ render_id, preparation_id }) =>
      String(render_id ?? preparation_id),
    );
    return records(evidence)
      .filter(({ status }) => TERMINAL.has(status))
      .flatMap((record) => {
        const own = events.get(String(record['id'])) ?? [];
        const wanted = record['webhook_url'] === null ? 0 : 1;
        const fits = own.every(({ type }) => String(type).endsWith(`.${String(record['status'])}`));
        return own.length === wanted && fits
          ? []
          : [
              `${String(record['id'])} ${String(record['status'])}: ${own.map(({ type }) => type).join(', ') || 'no event'}`,
            ];
      });
  },
  'an end and its event are one transaction': (evidence) => {
    const ends = new Map(
      of(evidence, 'renders', 'preparations')
        .filter(({ now }) => TERMINAL.has(now['status']))
        .map(({ id, xid }) => [id, xid]),
    );
    return of(evidence, 'webhook_events')
      .filter(
        ({ was, now, xid }) =>
          was === null && ends.get(String(now['render_id'] ?? now['preparation_id'])) !== xid,
      )
      .map(({ id }) => `event ${id}`);
  },
  /** I5, I6. */
  'receivers see one event': (evidence) => [
    ...differing(
      attempts(evidence),
      ({ recordId }) => recordId,
      ({ eventId, type }) => `${eventId} ${type}`,
    ),
    ...differing(
      attempts(evidence),
      ({ eventId }) => eventId,
      ({ deliveryId, bodyDigest }) => `${deliveryId} ${bodyDigest}`,
    ),
    ...attempts(evidence)
      .filter(({ path }) => path === '/elsewhere')
      .map(({ eventId }) => `${eventId} followed a redirect`),
  ],
  /** I7. */
  'signatures are valid and fresh': (evidence) =>
    attempts(evidence)
      .filter(({ isSigned, signedAt, at }) => !isSigned || Math.abs(at - signedAt) > TOLERANCE_MS)
      .map(({ eventId, isSigned }) => `${eventId}: ${isSigned ? 'old' : 'invalid'}`),
  /** I8. */
  'delivered means answered with success': (evidence) => {
    const accepted = new Set(
      attempts(evidence)
        .filter(({ answered }) => answered !== null && answered < 300)
        .map(({ deliveryId }) => deliveryId),
    );
    return of(evidence, 'webhook_deliveries')
      .filter(({ id, now }) => now['status'] === 'delivered' && !accepted.has(id))
      .map(({ id }) => `delivery ${id}`);
  },
  /** I9. Every receiver of a run answers well in the end. */
  'events are delivered': ({ rows, abandoned }) =>
    rows.webhook_deliveries
      .filter(
        ({ status, attempts: made }) =>
          status === 'failed' ||
          Number(made) > MAX_DELIVERY_ATTEMPTS ||
          (status === 'pending' && abandoned.length > 0),
      )
      .map(
        ({ id, status, attempts: made }) => `${String(id)} ${String(status)} after ${String(made)} attempts`,
      ),
  /** I10: the key of an output names the claim under which it was made. */
  'results come from the last claim': (evidence) => {
    const ended = new Map<unknown, unknown>();
    for (const { was, now } of of(evidence, 'jobs'))
      if (now['status'] === 'finished' && was?.['status'] === 'running')
        ended.set(now['engine_run_id'], was['fence']);
    return of(evidence, 'engine_runs')
      .filter(
        ({ id, now }) =>
          now['status'] === 'completed' && String(now['output_key']).split('/')[2] !== String(ended.get(id)),
      )
      .map(
        ({ id, now }) =>
          `${id}: ${String(now['output_key'])}, but the last claim is ${String(ended.get(id))}`,
      );
  },
  'fences never go back': (evidence) =>
    of(evidence, 'jobs')
      .filter(
        ({ was, now }) =>
          was !== null &&
          (Number(now['fence']) < Number(was['fence']) ||
            (now['worker_id'] !== was['worker_id'] &&
              now['status'] === 'running' &&
              now['fence'] === was['fence'])),
      )
      .map(({ id, was, now }) => `job ${id}: ${String(was?.['fence'])} to ${String(now['fence'])}`),
  'outputs are there with their frames': (evidence) => {
    const wishOf = new Map(
      evidence.rows.renders.map(({ id, webhook_url }) => [id, evidence.wishes.get(nonceOf(webhook_url))]),
    );
    return evidence.rows.engine_runs.flatMap(({ id, render_id }) => {
      const frames = evidence.outputs.get(String(id));
      const wish = wishOf.get(render_id);
      if (frames === undefined || wish === undefined || !wish.isGood) return [];
      return frames !== null && Math.abs(frames - wish.frames) <= 1
        ? []
        : [`run ${String(id)}: ${frames} frames instead of ${wish.frames}`];
    });
  },
  /** A fault may use up the attempts of a job; nothing else may make good work fail. */
  'good work succeeds': (evidence) => {
    const attemptsOf = new Map(
      evidence.rows.jobs.map(({ engine_run_id, attempts: made }) => [engine_run_id, Number(made)]),
    );
    const good = new Set(
      evidence.rows.renders
        .filter(({ webhook_url }) => evidence.wishes.get(nonceOf(webhook_url))?.isGood)
        .map(({ id }) => id),
    );
    return evidence.rows.engine_runs
      .filter(
        ({ id, render_id, status }) =>
          status === 'failed' && good.has(render_id) && (attemptsOf.get(id) ?? 0) < MAX_JOB_ATTEMPTS,
      )
      .map(({ id, error_code }) => `run ${String(id)} failed: ${String(error_code)}`);
  },
  'jobs end with their record': (evidence) => {
    const ended = new Set(
      evidence.rows.engine_runs.filter(({ status }) => TERMINAL.has(status)).map(({ id }) => id),
    );
    const endedAt = new Map(
      of(evidence, 'engine_runs')
        .filter(({ now }) => TERMINAL.has(now['status']))
        .map(({ id, seq }) => [id, seq]),
    );
    return [
      ...evidence.rows.jobs
        .filter(({ engine_run_id, status }) => ended.has(engine_run_id) && status !== 'finished')
        .map(({ id, status }) => `job ${String(id)} is still ${String(status)}`),
      ...of(evidence, 'jobs')
        .filter(
          ({ seq, was, now }) =>
            now['status'] === 'running' &&
            was?.['status'] !== 'running' &&
            seq > (endedAt.get(String(now['engine_run_id'])) ?? Infinity),
        )
        .map(({ id }) => `job ${id} was claimed after the end`),
    ];
  },
  /** I11. */
  'one key, one record': (evidence) => {
    const keyed = calls(evidence).filter(({ key }) => key !== undefined);
    return [
      ...differing(
        keyed.filter(({ status, altered }) => status === 202 && !altered),
        ({ key }) => key,
        ({ body }) => field(body, 'id'),
      ),
      ...keyed
        .filter(({ status, altered }) => altered && status !== null && status < 300)
        .map(({ key }) => `${key}: another body was accepted`),
      ...[...groups(records(evidence), ({ webhook_url }) => nonceOf(webhook_url))]
        .filter(([nonce, group]) => nonce !== '' && group.length > 1)
        .map(([nonce, group]) => `${nonce}: ${group.length} records`),
    ];
  },
  /** I12. */
  'nobody sees what is not theirs': (evidence) =>
    calls(evidence)
      .filter(({ foreign, status }) => foreign && status !== null && status !== 404 && status !== 503)
      .map(({ id, status }) => `${id} answered ${status}`),
  /** I14. */
  'events say how the record ended': (evidence) => {
    const statusOf = new Map(records(evidence).map(({ id, status }) => [id, status]));
    return attempts(evidence)
      .filter(
        ({ recordId, recordStatus, type }) =>
          statusOf.get(recordId) !== recordStatus || !type.endsWith(`.${recordStatus}`),
      )
      .map(({ eventId, recordStatus }) => `${eventId} says ${recordStatus}`);
  },
  'errors are in the contract': (evidence) =>
    calls(evidence)
      .filter(({ status }) => status !== null && status >= 400)
      .filter(
        ({ status, body }) =>
          ![400, 401, 404, 405, 409, 410, 413, 429, 503].includes(status ?? 0) ||
          typeof field(field(body, 'error'), 'code') !== 'string' ||
          (status === 503 && field(field(body, 'error'), 'retryable') !== true),
      )
      .map(({ op, status, body }) => `${op}: ${status} ${JSON.stringify(body)}`),
  'no process ends by itself': ({ entries }) =>
    entries.flatMap((entry) =>
      entry.kind === 'process' && entry.what === 'ended' && !entry.expected ? [entry.name] : [],
    ),
  'nothing is left over': ({ leftovers }) => [...leftovers],
  'no secret in a log': ({ leaks }) => [...leaks],
} satisfies Record<string, (evidence: Evidence) => string[]>;

export type InvariantName = keyof typeof INVARIANTS;

/** Names of the violated invariants, with what violates them. */
export function check(evidence: Evidence): Partial<Record<InvariantName, string[]>> {
  const found = Object.entries(INVARIANTS).map(
    ([name, examine]) => [name, (examine as (e: Evidence) => string[])(evidence)] as const,
  );
  return Object.fromEntries(found.filter(([, violations]) => violations.length > 0));
}
