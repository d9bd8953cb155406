import type { Attempt, Call, Entry } from './history';
import { check, type Evidence, type InvariantName } from './invariants';
import type { Change, Row } from './observe';

const RENDER = { id: 'ren', status: 'completed', webhook_url: 'https://hooks.chaos.test/0/steady/0-1' };
const RUN = {
  id: 'run',
  render_id: 'ren',
  customer_id: 'cus',
  engine: 'musetalk',
  status: 'completed',
  output_key: 'outputs/run/2/video.mp4',
  usage: { output_seconds: 1.2, rendered_frames: 30, gpu_inference_seconds: null },
  updated_at: new Date('2026-01-01T00:00:05Z'),
};
const USAGE = {
  id: 'run',
  render_id: 'ren',
  customer_id: 'cus',
  engine: 'musetalk',
  outcome: 'completed',
  finished_at: new Date('2026-01-01T00:00:05Z'),
  output_seconds: 1.2,
  frames: 30,
  gpu_seconds: null,
  cost_usd: null,
};
const JOB = { id: 'job', engine_run_id: 'run', status: 'finished', attempts: 2 };
const EVENT = { id: 'evt', render_id: 'ren', preparation_id: null, type: 'render.completed' };
const DELIVERY = { id: 'dlv', event_id: 'evt', status: 'delivered', attempts: 1 };

const call = (over: Partial<Call> = {}): Call => ({
  kind: 'call',
  at: 0,
  answeredAt: 1,
  customer: 0,
  op: 'get_render',
  id: 'ren',
  status: 200,
  body: { id: 'ren', status: 'completed', progress_percent: 100, updated_at: '2026-01-01T00:00:05Z' },
  ...over,
});
const create = (over: Partial<Call> = {}): Call =>
  call({
    op: 'create_render',
    key: 'k',
    status: 202,
    body: { id: 'ren', status: 'accepted', updated_at: '2026-01-01T00:00:00Z' },
    ...over,
  });
const poll = (at: number, body: object): Call =>
  call({ at, answeredAt: at + 1, body: { id: 'ren', status: 'processing', ...body } });
const attempt = (over: Partial<Attempt> = {}): Attempt => ({
  kind: 'attempt',
  at: 1_000,
  path: '/0/steady/0-1',
  eventId: 'evt',
  deliveryId: 'dlv',
  type: 'render.completed',
  recordId: 'ren',
  recordStatus: 'completed',
  bodyDigest: 'd',
  isSigned: true,
  signedAt: 1_000,
  answered: 200,
  ...over,
});
const RECORD = { id: 'cus', state: 'erased' };
const ERASED = { records: [RECORD], traces: [], missing: [] };
const erased = (over: Partial<Evidence['erased']>): Partial<Evidence> => ({ erased: { ...ERASED, ...over } });
let seq = 0;
const change = (tbl: string, id: string, was: Row | null, now: Row, xid = 'end'): Change => ({
  seq: ++seq,
  at: 0,
  xid,
  tbl,
  id,
  was,
  now,
});
const CHANGES: readonly Change[] = [
  change(
    'jobs',
    'job',
    { status: 'queued', fence: 1, worker_id: 'a' },
    { status: 'running', fence: 2, worker_id: 'b', engine_run_id: 'run' },
    'claim',
  ),
  change(
    'jobs',
    'job',
    { status: 'running', fence: 2, worker_id: 'b' },
    { status: 'finished', fence: 3, worker_id: 'b', engine_run_id: 'run' },
  ),
  change('engine_runs', 'run', { status: 'processing' }, { status: 'completed', output_key: RUN.output_key }),
  change('run_usage', 'run', null, { outcome: 'completed' }),
  change('renders', 'ren', { status: 'processing' }, { status: 'completed' }),
  change('webhook_events', 'evt', null, { render_id: 'ren', preparation_id: null }),
  change('webhook_deliveries', 'dlv', { status: 'pending' }, { status: 'delivered' }, 'settle'),
];
const ROWS = {
  renders: [RENDER],
  preparations: [],
  engine_runs: [RUN],
  jobs: [JOB],
  assets: [],
  webhook_events: [EVENT],
  webhook_deliveries: [DELIVERY],
  run_usage: [USAGE],
};

/** A run in which everything went well. */
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  entries: [create(), call({ at: 10, answeredAt: 11 }), attempt()],
  changes: CHANGES,
  rows: ROWS,
  wishes: new Map([['0-1', { frames: 30, isGood: true }]]),
  abandoned: [],
  outputs: new Map([['run', 30]]),
  leftovers: [],
  leaks: [],
  erased: ERASED,
  ...over,
});
const entries = (...more: Entry[]): Partial<Evidence> => ({ entries: [...evidence().entries, ...more] });
const altered = (tbl: string, over: Partial<Change>): Partial<Evidence> => ({
  changes: CHANGES.map((one) => (one.tbl === tbl ? { ...one, ...over } : one)),
});
const changes = (...more: Change[]): Partial<Evidence> => ({ changes: [...CHANGES, ...more] });
const rows = (over: Partial<Evidence['rows']>): Partial<Evidence> => ({ rows: { ...ROWS, ...over } });
const engine = (percent: number) => ({ engines: [{ engine: 'musetalk', progress_percent: percent }] });

/** For each invariant, evidence that contradicts it. */
const VIOLATIONS: Record<InvariantName, Record<string, Partial<Evidence>>> = {
  'accepted means there': {
    'a render that was accepted and is unknown': entries(create({ key: 'x', body: { id: 'gone' } })),
    'an owner who is told 404': entries(call({ status: 404, body: {} })),
  },
  'nothing is abandoned': { 'a job that nobody takes': { abandoned: [{ kind: 'job', id: 'job' }] } },
  'leases expire': { 'a lease whose worker is gone': { abandoned: [{ kind: 'lease', id: 'job' }] } },
  'an end is final': {
    'a completed render that fails': changes(
      change('renders', 'ren', { status: 'completed' }, { status: 'failed' }),
    ),
    'a poll that sees an end undone': entries(poll(20, {})),
  },
  'polls are monotone': {
    'progress that falls': { entries: [poll(0, { progress_percent: 5 }), poll(5, { progress_percent: 4 })] },
    'a date that falls': { entries: [poll(0, { updated_at: '2' }), poll(5, { updated_at: '1' })] },
    'progress of an engine that falls': { entries: [poll(0, engine(5)), poll(5, engine(4))] },
  },
  'one end, one event': {
    'an end without event': rows({ webhook_events: [] }),
    'two events': rows({ webhook_events: [EVENT, { ...EVENT, id: 'evt-2' }] }),
    'an event of another end': rows({ webhook_events: [{ ...EVENT, type: 'render.failed' }] }),
  },
  'an end and its event are one transaction': {
    'an event that was written later': altered('webhook_events', { xid: 'later' }),
  },
  'receivers see one event': {
    'two events of one record': entries(attempt({ eventId: 'evt-2' })),
    'a repetition with another body': entries(attempt({ bodyDigest: 'other' })),
    'a redirect that was followed': entries(attempt({ path: '/elsewhere' })),
  },
  'signatures are valid and fresh': {
    'a forged one': entries(attempt({ isSigned: false })),
    'one of six minutes ago': entries(attempt({ at: 361_000 })),
  },
  'delivered means answered with success': {
    'a receiver that said 500': { entries: [attempt({ answered: 500 })] },
  },
  'events are delivered': {
    'a delivery that was given up': rows({ webhook_deliveries: [{ ...DELIVERY, status: 'failed' }] }),
    'a twelfth attempt': rows({ webhook_deliveries: [{ ...DELIVERY, attempts: 12 }] }),
  },
  'results come from the last claim': {
    'the output of an older claim': altered('engine_runs', {
      now: { status: 'completed', output_key: 'outputs/run/1/video.mp4' },
    }),
  },
  'fences never go back': {
    'a fence that falls': changes(change('jobs', 'job', { fence: 3 }, { fence: 2 })),
    'two workers under one fence': changes(
      change('jobs', 'job', { fence: 2, worker_id: 'b' }, { fence: 2, worker_id: 'c', status: 'running' }),
    ),
  },
  'outputs are there with their frames': {
    'an output that is not there': { outputs: new Map([['run', null]]) },
    'an output that is cut short': { outputs: new Map([['run', 12]]) },
  },
  'good work succeeds': {
    'a failure in the first attempt': rows({
      jobs: [{ ...JOB, attempts: 1 }],
      engine_runs: [{ ...RUN, status: 'failed' }],
    }),
  },
  'jobs end with their record': {
    'a job that outlives its run': rows({ jobs: [{ ...JOB, status: 'queued' }] }),
    'a claim after the end': changes(
      change('jobs', 'job', { status: 'queued' }, { status: 'running', engine_run_id: 'run' }),
    ),
  },
  'one key, one record': {
    'another answer to a duplicate': entries(create({ body: { id: 'other' } })),
    'another body under a known key': entries(create({ altered: true })),
    'two records of one wish': rows({ renders: [RENDER, { ...RENDER, id: 'ren-2' }] }),
  },
  'nobody sees what is not theirs': { 'an answer to a stranger': entries(call({ foreign: true })) },
  'events say how the record ended': {
    'an event with another status': entries(attempt({ recordStatus: 'failed' })),
  },
  'usage is written once, with the end of its run': {
    'an ended run without usage': rows({ run_usage: [] }),
    'usage of a run that goes on': rows({ engine_runs: [{ ...RUN, status: 'processing' }] }),
    'usage that was written later': altered('run_usage', { xid: 'later' }),
    'usage that was written again': changes(
      change('run_usage', 'run', { outcome: 'failed' }, { outcome: 'completed' }),
    ),
  },
  'usage is what the record shows': {
    'other seconds': rows({ run_usage: [{ ...USAGE, output_seconds: 2.4 }] }),
    'another outcome': rows({ run_usage: [{ ...USAGE, outcome: 'failed' }] }),
    'another customer': rows({ run_usage: [{ ...USAGE, customer_id: 'other' }] }),
    'another time': rows({ run_usage: [{ ...USAGE, finished_at: new Date(0) }] }),
    'usage of no run': rows({ run_usage: [USAGE, { ...USAGE, id: 'gone' }] }),
  },
  'an erasure ends, with one record': {
    'one that was only begun': erased({ records: [{ id: 'cus', state: 'begun' }] }),
    'one that is not on the list': erased({ records: [] }),
    'two records': erased({ records: [RECORD, RECORD] }),
  },
  'nothing is left of whom is erased': { 'an output': erased({ traces: ['outputs/run/1/video.mp4'] }) },
  'an erasure takes nothing of others': { 'a missing asset': erased({ missing: ['assets/ast/original'] }) },
  'errors are in the contract': {
    'a 500': entries(call({ status: 500, body: { error: { code: 'x', retryable: true } } })),
    'a 503 for good': entries(call({ status: 503, body: { error: { code: 'x', retryable: false } } })),
  },
  'no process ends by itself': {
    'a crash': entries({ kind: 'process', at: 0, name: 'api', what: 'ended', expected: false }),
  },
  'nothing is left over': { 'a folder': { leftovers: ['folder job'] } },
  'no secret in a log': { 'a key': { leaks: ['api.log holds an api key'] } },
};

describe('the checker of a fault test', () => {
  it('finds nothing wrong in a run that went well', () => {
    expect(check(evidence())).toEqual({});
  });

  const cases = Object.entries(VIOLATIONS).flatMap(([name, violating]) =>
    Object.entries(violating).map(([what, over]) => [name, what, over] as const),
  );
  it.each(cases)('finds that "%s" is violated by %s', (name, _what, over) => {
    expect(Object.keys(check(evidence(over)))).toContain(name);
  });
});
