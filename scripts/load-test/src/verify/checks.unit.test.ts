import { type CheckResult } from '../report/report';
import { type WebhookSink } from '../target/load-target';
import { createEventLog, type LoggedEvent } from '../target/receiver';
import { endedRender, loggedEvent, recordOf } from '../test/observations';
import { type TrackedRender } from '../track/ledger';
import { type AnswerCounts } from '../track/outcome';
import { CHECKS, runChecks } from './checks';
import { type Evidence } from './evidence';

const render = (over: Partial<TrackedRender> = {}): TrackedRender =>
  endedRender(
    { completedAt: 5, webhookEventId: 'event', outputSeconds: 4, processingMs: 3 },
    { acceptedAfterMs: 10, announcedTo: 'fast', ...over },
  );
const webhooks = (
  events: readonly LoggedEvent[] = [loggedEvent()],
  over: Partial<WebhookSink['log']> & { verifiesSignatures?: boolean } = {},
): WebhookSink => ({
  log: { ...createEventLog(), events: new Map(events.map((event) => [event.id, event])), ...over },
  url: () => '',
  verifiesSignatures: over.verifiesSignatures ?? true,
});
const rechecked = (status: 'completed' | 'failed' | null, webhookEventId = 'event') => [
  { id: 'render', record: status && recordOf('render', { status, webhook_event_id: webhookEventId }) },
];
const NO_ERRORS: AnswerCounts = { total: 100, failed: 0, errors: [] };
const output = (over: Partial<Evidence['outputs'][number]> = {}): Evidence['outputs'][number] => ({
  renderId: 'render',
  engine: 'musetalk',
  problem: null,
  credentials: 'verified',
  ...over,
});
/** A run in which everything was examined and nothing is wrong. */
const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  renders: [render()],
  requests: { ofCallers: NO_ERRORS, beforeAndAfter: NO_ERRORS },
  replays: { count: 1, unmarked: 0, mismatches: [] },
  lostAnswers: { count: 1, unsettled: [] },
  rechecked: rechecked('completed'),
  webhooks: webhooks(),
  deliveries: [{ eventId: 'event', status: 'delivered', attempts: 1 }],
  outputs: [output()],
  uploads: [{ assetId: 'asset', status: 'ready' }],
  maxFailures: 0.01,
  drain: 60,
  ...over,
});
const errors = (count: number, outcome: 'out_of_contract' | 'unavailable' | 'limited'): AnswerCounts => ({
  total: 100,
  failed: outcome === 'limited' ? 0 : count,
  errors: [
    {
      operation: 'get_render',
      outcome: { class: outcome, status: 503, code: 'service_unavailable', retryable: true },
      count,
    },
  ],
});
const failure = (...of: Parameters<typeof errors>): Evidence['requests'] => ({
  ofCallers: errors(...of),
  beforeAndAfter: NO_ERRORS,
});
const failureAside = (...of: Parameters<typeof errors>): Evidence['requests'] => ({
  ofCallers: NO_ERRORS,
  beforeAndAfter: errors(...of),
});
const failedRender = (errorCode: string | null = null): TrackedRender =>
  endedRender({ status: 'failed', completedAt: 5, errorCode }, { announcedTo: 'fast' });

function states(results: readonly CheckResult[], state: CheckResult['state']): string[] {
  return results.filter((result) => result.state === state).map(({ id }) => id);
}

describe('the checks of a load test', () => {
  it('all pass when nothing is wrong', () => {
    const results = runChecks(evidence());
    expect(states(results, 'passed')).toEqual(CHECKS.map(({ id }) => id));
  });

  const faults: [id: string, fault: string, Partial<Evidence>][] = [
    ['answers_in_contract', 'an answer of another form', { requests: failure(1, 'out_of_contract') }],
    [
      'answers_in_contract',
      'an answer of another form to a poll of the drain',
      { requests: failureAside(1, 'out_of_contract') },
    ],
    ['requests_succeed', 'more failures than tolerated', { requests: failure(2, 'unavailable') }],
    [
      'requests_succeed',
      'more failures than tolerated in the drain alone',
      { requests: failureAside(2, 'unavailable') },
    ],
    [
      'replays_same_render',
      'a replay that made another render',
      {
        replays: {
          count: 1,
          unmarked: 0,
          mismatches: [{ idempotencyKey: 'k', expectedId: 'a', gotId: 'b' }],
        },
      },
    ],
    [
      'replays_same_render',
      'a replay that is not marked',
      { replays: { count: 1, unmarked: 1, mismatches: [] } },
    ],
    [
      'lost_answers_settled',
      'a create of unknown outcome',
      { lostAnswers: { count: 1, unsettled: ['key: timeout'] } },
    ],
    ['uploads_ready', 'an upload that was not taken', { uploads: [{ assetId: 'asset', status: 'failed' }] }],
    ['renders_end', 'a render that is left open', { renders: [render({ end: null, status: 'processing' })] }],
    ['renders_succeed', 'a render that failed', { renders: [failedRender('engine_failed')] }],
    [
      'terminal_states_final',
      'an end that was seen to change',
      { renders: [render({ flaws: [{ kind: 'terminal_changed', detail: 'completed became failed' }] })] },
    ],
    [
      'terminal_states_final',
      'an end that is another when asked once more',
      { rechecked: rechecked('failed') },
    ],
    ['terminal_states_final', 'a render that nobody knows any more', { rechecked: rechecked(null) }],
    [
      'states_move_forward',
      'a render that went back',
      { renders: [render({ flaws: [{ kind: 'went_backwards', detail: 'processing became accepted' }] })] },
    ],
    [
      'progress_monotone',
      'progress that fell',
      { renders: [render({ flaws: [{ kind: 'progress_fell', detail: '30 % became 20 %' }] })] },
    ],
    [
      'outputs_downloadable',
      'an output that cannot be had',
      { outputs: [output({ problem: 'the download was answered with 403', credentials: null })] },
    ],
    [
      'outputs_verify',
      'an output that is not as it was signed',
      { outputs: [output({ credentials: { problems: ['assertion.bmffHash.mismatch'] } })] },
    ],
    [
      'outputs_verify',
      'an output without credentials among others',
      { outputs: [output(), output({ credentials: 'none' })] },
    ],
    ['webhooks_arrive', 'an event that never came', { webhooks: webhooks([]) }],
    [
      'webhooks_acknowledged',
      'an event whose first attempt was refused and never repeated',
      {
        webhooks: webhooks([loggedEvent({ behavior: 'failing', acknowledged: false })]),
        deliveries: [],
      },
    ],
    [
      'webhooks_once',
      'two events for one render',
      { webhooks: webhooks([loggedEvent(), loggedEvent({ id: 'second' })]) },
    ],
    [
      'webhooks_once',
      'an event for a render that was never accepted',
      { webhooks: webhooks([loggedEvent(), loggedEvent({ id: 'other', recordId: 'stranger' })]) },
    ],
    ['webhooks_signed', 'a wrong signature', { webhooks: webhooks([loggedEvent()], { forgedAttempts: 1 }) }],
    [
      'webhooks_signed',
      'a body that is no event',
      { webhooks: webhooks([loggedEvent()], { malformedAttempts: 1 }) },
    ],
    [
      'webhooks_agree',
      'an event that tells of another end',
      { webhooks: webhooks([loggedEvent({ type: 'render.failed', status: 'failed' })]) },
    ],
    [
      'webhooks_agree',
      'a type that does not fit the status',
      { webhooks: webhooks([loggedEvent({ type: 'render.cancelled' })]) },
    ],
    [
      'webhooks_agree',
      'an event of another id than the record names',
      { rechecked: rechecked('completed', 'another') },
    ],
    [
      'webhooks_settled',
      'an acknowledged event that is still to be delivered',
      { deliveries: [{ eventId: 'event', status: 'pending', attempts: 1 }] },
    ],
  ];

  it.each(faults)('%s fails at %s', (id, _, fault) => {
    const results = runChecks(evidence(fault));
    expect(states(results, 'failed')).toContain(id);
    const failed = results.find((result) => result.id === id);
    expect(failed?.failures).toBeGreaterThan(0);
    expect(failed?.examples.length).toBeGreaterThan(0);
  });

  it('each detect at least one of these faults', () => {
    expect(new Set(faults.map(([id]) => id))).toEqual(new Set(CHECKS.map(({ id }) => id)));
  });

  it('tolerate the configured number of failures, and any number of rate-limited requests', () => {
    expect(states(runChecks(evidence({ requests: failure(1, 'unavailable') })), 'failed')).toEqual([]);
    expect(states(runChecks(evidence({ requests: failure(90, 'limited') })), 'failed')).toEqual([]);
    const renders = [
      ...Array.from({ length: 99 }, (_, i) => render({ id: `r${i}`, announcedTo: null })),
      failedRender(),
    ];
    expect(states(runChecks(evidence({ renders, rechecked: [], webhooks: null })), 'failed')).toEqual([]);
  });

  it('permit that an event is delivered again', () => {
    const events = [loggedEvent({ attempts: 3, redeliveries: 2 })];
    expect(states(runChecks(evidence({ webhooks: webhooks(events) })), 'failed')).toEqual([]);
  });

  it('report that nothing is known about webhooks without a receiver', () => {
    const results = runChecks(evidence({ webhooks: null }));
    const about = results.filter(({ id }) => id.startsWith('webhooks_'));
    expect(new Set(about.map(({ state }) => state))).toEqual(new Set(['skipped']));
    expect(about[0]?.note).toContain('No receiver');
  });

  it('do not claim that signatures are valid when there was no secret to check them with', () => {
    const results = runChecks(
      evidence({ webhooks: webhooks([loggedEvent()], { verifiesSignatures: false }) }),
    );
    expect(results.find(({ id }) => id === 'webhooks_signed')).toMatchObject({ state: 'skipped' });
  });

  it('are skipped where there was nothing to examine', () => {
    const results = runChecks(evidence({ outputs: [], uploads: [] }));
    expect(states(results, 'skipped')).toEqual(['uploads_ready', 'outputs_downloadable', 'outputs_verify']);
  });

  it('count the outputs whose content credentials verify, and ask for none where a service signs nothing', () => {
    const about = (outputs: Evidence['outputs']) =>
      runChecks(evidence({ outputs })).find(({ id }) => id === 'outputs_verify');
    expect(about([output(), output()])).toMatchObject({
      state: 'passed',
      note: '2 of 2 downloaded outputs verified.',
    });
    expect(about([output({ credentials: 'none' })])).toMatchObject({ state: 'skipped' });
  });
});
