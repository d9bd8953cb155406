import { AT, recordOf, sentCreate } from '../test/observations';
import { refusal, type Script, type ScriptedService, startScriptedService } from '../test/scripted-service';
import { cancelLeftOvers, drain, finalStates, settleLostAnswers } from './verify-run';

const toCancel = sentCreate({ purpose: 'cancel' });
const cancelled = (id: string) => recordOf(id, { status: 'cancelled', stage: 'cancelled', completed_at: AT });

describe('the end of a load test', () => {
  let service: ScriptedService;
  const start = async (script: (base: string) => Script): Promise<void> => {
    service = await startScriptedService(script);
  };
  afterEach(() => service.close());
  const within = (seconds: number) => ({ run: service.run, deadline: performance.now() + seconds * 1000 });

  it('settles a lost create by repeating it until it is answered', async () => {
    await start(() => ({
      'POST /v1/renders': [
        refusal(503, 'service_unavailable', true),
        { status: 202, body: recordOf('found') },
      ],
    }));
    service.run.ledger.unanswered(sentCreate());
    expect(await settleLostAnswers(within(10))).toEqual([]);
    expect(service.run.ledger.find('found')).toBeDefined();
    expect(service.requests).toHaveLength(2);
  });

  it('gives up on a lost create that is refused for good', async () => {
    await start(() => ({ 'POST /v1/renders': [refusal(409, 'idempotency_key_reused', false)] }));
    service.run.ledger.unanswered(sentCreate());
    const unsettled = await settleLostAnswers(within(10));
    expect(unsettled).toEqual(['key: 409 idempotency_key_reused']);
  });

  it('cancels the renders to be cancelled, and none that was to be rendered', async () => {
    await start(() => ({
      'POST /v1/renders/abandoned/cancel': [
        refusal(429, 'rate_limit_exceeded', true),
        { status: 202, body: cancelled('abandoned') },
      ],
    }));
    service.run.ledger.accepted(toCancel, recordOf('abandoned'), 0, 1);
    service.run.ledger.accepted(sentCreate(), recordOf('wanted'), 0, 1);
    await cancelLeftOvers(within(10));
    expect(service.run.ledger.find('abandoned')?.end?.status).toBe('cancelled');
    expect(service.run.ledger.find('wanted')?.end).toBeNull();
    expect(service.requests.filter((request) => request.includes('wanted'))).toEqual([]);
  });

  it('accepts that a render which has ended meanwhile cannot be cancelled', async () => {
    await start(() => ({
      'POST /v1/renders/done/cancel': [refusal(409, 'render_not_cancellable', false)],
    }));
    service.run.ledger.accepted(toCancel, recordOf('done'), 0, 1);
    await cancelLeftOvers(within(10));
    expect(service.outcomes.map((outcome) => outcome.class)).toEqual(['expected']);
  });

  it.each([
    ['not at all when everything has ended', 10, null, []],
    ['for an event to be acknowledged, up to the deadline', 0, 'hanging', [1]],
  ] as const)('waits %s', async (_, seconds, announcedTo, expected) => {
    await start(() => ({}));
    service.run.ledger.accepted(sentCreate({ announcedTo }), cancelled('done'), 0, 1);
    const waits: number[] = [];
    await drain(within(seconds), (_open, unannounced) => waits.push(unannounced));
    expect(waits).toEqual(expected);
  });

  it('fetches renders, deliveries, outputs and uploads once more', async () => {
    const output = (url: string) => ({
      status: 'completed' as const,
      stage: 'completed',
      progress_percent: 100,
      completed_at: AT,
      webhook_event_id: 'event',
      engines: [
        {
          engine: 'musetalk' as const,
          status: 'completed' as const,
          stage: 'completed',
          progress_percent: 100,
          usage: {},
          output: { url, expires_at: AT },
        },
      ],
    });
    await start((base) => ({
      'GET /v1/renders/good': [{ status: 200, body: recordOf('good', output(`${base}/good.mp4`)) }],
      'GET /v1/renders/broken': [{ status: 200, body: recordOf('broken', output(`${base}/broken.mp4`)) }],
      'GET /v1/renders/denied': [{ status: 200, body: recordOf('denied', output(`${base}/denied.mp4`)) }],
      'GET /v1/renders/forgotten': [refusal(404, 'render_not_found', false)],
      'GET /good.mp4': [{ status: 200, body: '\0\0\0\x20ftypisom' }],
      'GET /broken.mp4': [{ status: 200, body: '<html></html>' }],
      'GET /denied.mp4': [{ status: 403, body: null }],
      'GET /v1/webhooks/event': [
        {
          status: 200,
          body: { id: 'event', status: 'pending', attempts: 1 },
          headers: { 'retry-after': '0' },
        },
        { status: 200, body: { id: 'event', status: 'delivered', attempts: 1 } },
      ],
      'GET /v1/assets/upload': [{ status: 200, body: asset('failed') }],
    }));
    for (const id of ['good', 'broken', 'denied', 'forgotten'])
      service.run.ledger.accepted(
        sentCreate(),
        recordOf(id, { status: 'completed', stage: 'completed', progress_percent: 100, completed_at: AT }),
        0,
        1,
      );
    const data = { ...recordOf('good'), status: 'completed' as const };
    const event = { id: 'event', type: 'render.completed' as const, created_at: AT, data };
    const arrived = service.run.webhooks?.log.arrived(event, 'fast', 0);
    if (arrived !== undefined) arrived.acknowledged = true;
    const [customer] = service.run.customers;
    if (customer !== undefined) service.run.uploads.push({ customer, assetId: 'upload' });

    const collected = await finalStates(service.run);
    expect(collected.rechecked.map(({ id, record }) => [id, record?.status])).toEqual([
      ['good', 'completed'],
      ['broken', 'completed'],
      ['denied', 'completed'],
      ['forgotten', undefined],
    ]);
    expect(collected.deliveries).toEqual([{ eventId: 'event', status: 'delivered', attempts: 1 }]);
    expect(collected.outputs).toEqual([
      // Its credentials are judged, too, but it is cut off.
      {
        ...{ renderId: 'good', engine: 'musetalk', problem: null },
        credentials: { problems: [expect.stringContaining('InvalidAsset')] },
      },
      {
        ...{ renderId: 'broken', engine: 'musetalk', problem: '13 bytes that are no MP4' },
        credentials: null,
      },
      {
        ...{ renderId: 'denied', engine: 'musetalk', problem: 'the download was answered with 403' },
        credentials: null,
      },
    ]);
    expect(collected.uploads).toEqual([{ assetId: 'upload', status: 'failed' }]);
  });
});

function asset(status: 'failed') {
  return {
    id: 'upload',
    media_type: 'video',
    status,
    stage: status,
    media: { size_bytes: 1, duration_seconds: 0, codec: 'unknown' },
    created_at: AT,
    expires_at: AT,
  };
}
