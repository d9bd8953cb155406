import { SYSTEM_CLOCK } from '../callers/open-loop';
import { CONFIG_DEFAULTS, type LoadTestConfig, scenarioShape } from '../config';
import { createEventLog } from '../target/receiver';
import { AT, recordOf } from '../test/observations';
import { refusal, type Script, type ScriptedService, startScriptedService } from '../test/scripted-service';
import { createLedger, type Ledger, type SentCreate } from '../track/ledger';
import { collectEvidence } from './evidence';
import { cancelLeftOvers, drain, settleLostAnswers } from './verify-run';

const clock = SYSTEM_CLOCK;
const config: LoadTestConfig = {
  ...CONFIG_DEFAULTS,
  ...scenarioShape('renders', {}),
  scenario: 'renders',
  videoFile: 'face.mp4',
  audioFile: 'speech.wav',
};
const create = (over: Partial<SentCreate> = {}): SentCreate => ({
  customer: 0,
  purpose: 'cancel',
  idempotencyKey: 'key',
  request: {
    video: { asset_id: 'video' },
    audio: { asset_id: 'audio' },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
  },
  announcedTo: null,
  intendedAt: 0,
  isWarmUp: false,
  ...over,
});
const cancelled = (id: string) => recordOf(id, { status: 'cancelled', stage: 'cancelled', completed_at: AT });

describe('the end of a load test', () => {
  let service: ScriptedService;
  let ledger: Ledger;
  const start = async (script: (base: string) => Script): Promise<void> => {
    service = await startScriptedService(script);
  };
  beforeEach(() => {
    ledger = createLedger(() => undefined);
  });
  afterEach(() => service.close());
  const within = (seconds: number) => ({ clock, ledger, deadline: clock.now() + seconds * 1000 });

  it('settles a lost create by repeating it until it is answered', async () => {
    await start(() => ({
      'POST /v1/renders': [
        refusal(503, 'service_unavailable', true),
        { status: 202, body: recordOf('found') },
      ],
    }));
    ledger.unanswered(create());
    expect(await settleLostAnswers(within(10), [service.customer])).toEqual([]);
    expect(ledger.find('found')).toBeDefined();
    expect(service.requests).toHaveLength(2);
  });

  it('gives up on a lost create that is refused for good', async () => {
    await start(() => ({ 'POST /v1/renders': [refusal(409, 'idempotency_key_reused', false)] }));
    ledger.unanswered(create());
    const unsettled = await settleLostAnswers(within(10), [service.customer]);
    expect(unsettled).toEqual(['key: 409 idempotency_key_reused']);
  });

  it('cancels the renders to be cancelled, and none that was to be rendered', async () => {
    await start(() => ({
      'POST /v1/renders/abandoned/cancel': [
        refusal(429, 'rate_limit_exceeded', true),
        { status: 202, body: cancelled('abandoned') },
      ],
    }));
    ledger.accepted(create(), recordOf('abandoned'), 0, 1);
    ledger.accepted(create({ purpose: 'result' }), recordOf('wanted'), 0, 1);
    await cancelLeftOvers(within(10), [service.customer]);
    expect(ledger.find('abandoned')?.end?.status).toBe('cancelled');
    expect(ledger.find('wanted')?.end).toBeNull();
    expect(service.requests.filter((request) => request.includes('wanted'))).toEqual([]);
  });

  it('accepts that a render which has ended meanwhile cannot be cancelled', async () => {
    await start(() => ({
      'POST /v1/renders/done/cancel': [refusal(409, 'render_not_cancellable', false)],
    }));
    ledger.accepted(create(), recordOf('done'), 0, 1);
    await cancelLeftOvers(within(10), [service.customer]);
    expect(service.outcomes.map((outcome) => outcome.class)).toEqual(['expected']);
  });

  describe('waits', () => {
    beforeEach(() => start(() => ({})));
    const sink = { log: createEventLog(), url: () => '', verifiesSignatures: true };

    it('not at all when everything has ended', async () => {
      ledger.accepted(create(), cancelled('done'), 0, 1);
      const waits: number[] = [];
      await drain({ ...within(10), webhooks: null, onWaiting: (open) => waits.push(open) });
      expect(waits).toEqual([]);
    });

    it('for an event to be acknowledged, up to the deadline', async () => {
      ledger.accepted(create({ announcedTo: 'hanging' }), cancelled('announced'), 0, 1);
      const waits: number[] = [];
      await drain({ ...within(0.001), webhooks: sink, onWaiting: (_, missing) => waits.push(missing) });
      expect(new Set(waits)).toEqual(new Set([1]));
    });
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
      ledger.accepted(
        create({ purpose: 'result' }),
        recordOf(id, { status: 'completed', stage: 'completed', progress_percent: 100, completed_at: AT }),
        0,
        1,
      );
    const log = createEventLog();
    const body = { ...recordOf('good'), status: 'completed' as const };
    log.arrived(
      { id: 'event', type: 'render.completed', created_at: AT, data: body },
      'fast',
      0,
    ).acknowledged = true;

    const collected = await collectEvidence({
      clock,
      config,
      customers: [service.customer],
      ledger,
      webhooks: { log, url: () => '', verifiesSignatures: true },
      uploads: [{ customer: service.customer, assetId: 'upload' }],
    });
    expect(collected.rechecked).toEqual([
      { id: 'good', status: 'completed', webhookEventId: 'event' },
      { id: 'broken', status: 'completed', webhookEventId: 'event' },
      { id: 'denied', status: 'completed', webhookEventId: 'event' },
      { id: 'forgotten', status: null, webhookEventId: null },
    ]);
    expect(collected.deliveries).toEqual([{ eventId: 'event', status: 'delivered', attempts: 1 }]);
    expect(collected.outputs).toEqual([
      { renderId: 'good', engine: 'musetalk', problem: null },
      { renderId: 'broken', engine: 'musetalk', problem: '13 bytes that are no MP4' },
      { renderId: 'denied', engine: 'musetalk', problem: 'the download was answered with 403' },
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
