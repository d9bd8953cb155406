import { type RecordResource } from '@lipsync/contract';
import { AT, recordOf, sentCreate } from '../test/observations';
import { createLedger, type SentCreate, type TrackedRender } from './ledger';

const CREATED_AT = Date.parse(AT);
const at = (seconds: number): string => new Date(CREATED_AT + seconds * 1000).toISOString();

const record = (over: Partial<RecordResource> = {}): RecordResource => recordOf('render', over);
const engine = (status: 'processing' | 'completed', stage: string, progress: number) =>
  ({ engine: 'musetalk', status, stage, progress_percent: progress }) as const;
const working = (progress: number, seconds: number): RecordResource =>
  record({
    status: 'processing',
    stage: 'rendering',
    progress_percent: progress,
    updated_at: at(seconds),
    engines: [{ ...engine('processing', 'inferencing', progress), usage: {} }],
  });
const finished = (seconds: number, processingMs = 0): RecordResource =>
  record({
    status: 'completed',
    stage: 'completed',
    progress_percent: 100,
    completed_at: at(seconds),
    engines: [
      {
        ...engine('completed', 'completed', 100),
        usage: { output_seconds: 4, processing_ms: processingMs },
      },
    ],
  });

/** A ledger with one accepted render, requested at 100 and answered at 110. */
function accepted(engines: SentCreate['request']['engines'] = ['musetalk']) {
  const watched: TrackedRender[] = [];
  const ledger = createLedger((render) => watched.push(render));
  const render = ledger.accepted(
    sentCreate({ request: { ...sentCreate().request, engines } }),
    record(),
    100,
    110,
  );
  let time = 110;
  return {
    ledger,
    render,
    watched,
    /** A response that follows all earlier ones. */
    sees: (seen: RecordResource) => ledger.observed(seen, (time += 10), (time += 10)),
    /** A response to a request that was sent before the last response arrived. */
    seesLate: (seen: RecordResource) => ledger.observed(seen, time - 15, time + 5),
    flaws: () => render.flaws.map(({ kind }) => kind),
  };
}

describe('a render in the ledger', () => {
  it('is open until it ends, and records how long its caller waited for acceptance', () => {
    const { ledger, render, watched, sees } = accepted();
    expect(ledger.open).toBe(1);
    expect(watched).toEqual([render]);
    expect(render.acceptedAfterMs).toBe(20);
    sees(working(30, 2));
    sees(finished(5));
    expect(ledger.open).toBe(0);
    expect(render).toMatchObject({ end: { status: 'completed', outputSeconds: 4 }, flaws: [] });
  });

  it('may pass through processing unseen', () => {
    const { sees, flaws } = accepted();
    sees(finished(5));
    expect(flaws()).toEqual([]);
  });

  it('is flawed when its progress falls', () => {
    const { sees, flaws } = accepted();
    sees(working(30, 2));
    sees(working(20, 3));
    expect(flaws()).toEqual(['progress_fell']);
  });

  it('is flawed when its status goes back', () => {
    const { sees, flaws } = accepted();
    sees(working(0, 2));
    sees(record());
    expect(flaws()).toEqual(['went_backwards']);
  });

  it('is flawed when its end changes, is revoked or repeats', () => {
    const { sees, flaws } = accepted();
    sees(finished(5));
    sees(record({ status: 'failed', completed_at: at(5) }));
    sees(working(30, 6));
    sees(finished(7));
    expect(new Set(flaws())).toEqual(new Set(['terminal_changed']));
    expect(flaws().length).toBeGreaterThanOrEqual(3);
  });

  it('is not flawed by an outdated response, unless it shows a different end', () => {
    const { sees, seesLate, flaws } = accepted();
    sees(working(30, 2));
    seesLate(working(20, 1));
    sees(finished(5));
    seesLate(working(40, 3));
    expect(flaws()).toEqual([]);
    seesLate(record({ status: 'cancelled', completed_at: at(4) }));
    expect(flaws()).toEqual(['terminal_changed']);
  });

  it('started when its only engine reports that its work began', () => {
    const { render, sees } = accepted();
    sees(working(30, 4));
    expect(render.started).toEqual({ at: CREATED_AT + 4_000, from: 'poll' });
    sees(finished(9, 6_000));
    expect(render.started).toEqual({ at: CREATED_AT + 3_000, from: 'record' });
  });

  it('with several engines started when a poll first saw one at work', () => {
    const { render, sees } = accepted(['musetalk', 'latentsync']);
    sees(working(30, 4));
    sees(finished(9, 6_000));
    expect(render.started).toEqual({ at: CREATED_AT + 4_000, from: 'poll' });
  });
});

describe('the ledger', () => {
  it('detects a replay that returned another render, and one that was not marked', () => {
    const { ledger } = accepted();
    ledger.replayed(sentCreate(), 'render', record(), true);
    ledger.replayed(sentCreate(), 'render', record({ id: 'other' }), false);
    expect(ledger.replays).toEqual({
      count: 2,
      unmarked: 1,
      mismatches: [{ idempotencyKey: 'key', expectedId: 'render', gotId: 'other' }],
    });
  });

  it('accepts the response to a settled create for the same render when that is already known', () => {
    const { ledger } = accepted();
    ledger.accepted(sentCreate(), working(10, 1), 200, 210);
    expect([...ledger.renders()]).toHaveLength(1);
    expect(ledger.find('render')).toMatchObject({ status: 'processing', progress: 10 });
  });

  it('ignores renders that it has not created', () => {
    const { ledger } = accepted();
    ledger.observed(record({ id: 'stranger' }), 200, 210);
    expect([...ledger.renders()]).toHaveLength(1);
  });
});
