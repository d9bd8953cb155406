import { openTelemetry, type Telemetry } from '@lipsync/telemetry';
import {
  eventually,
  type Exposition,
  type OtlpCollector,
  parseExposition,
  startOtlpCollector,
} from '@lipsync/testkit';
import { send } from '../test/http-client';
import { recordedLog } from '../test/recorded-log';
import { createScenario, preparationRequest, renderRequest, VIDEO_URL } from '../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../test/start-api';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const CALLER_TRACE = CALLER.slice(3, 35);

/** The telemetry of a service that samples this share of the traces that it starts. */
const openTracing = (collector: OtlpCollector, share: number): Promise<Telemetry> =>
  openTelemetry({
    service: 'api',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER_ARG: share },
    logger: recordedLog().logger,
    lifecycle: { onShutdown: () => undefined },
  });

/** Waits for a metric: a request is counted when its response is sent, and its caller may see the response first. */
async function told(api: TestApi, check: (metrics: Exposition) => void): Promise<void> {
  await eventually(async () => check(parseExposition(await api.metrics.text())));
}

describe('metrics of the API', () => {
  let api: TestApi;
  let customer: TestCustomer;
  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer({ activeRecordsMax: 100 });
  });
  afterAll(() => api.close());

  it('count every request once, by operation and status, and every error by its code', async () => {
    const { key } = customer;
    await api.operations.ok('create_render', { key, json: renderRequest() });
    await api.operations.ok('create_render', { key, json: renderRequest() });
    await api.operations.refused('get_render', { key, id: 'no-such-render' });
    await send(`${api.baseUrl}/v1/renders/anybody-can-write-this`, 'GET');
    await told(api, (metrics) => {
      const count = (operation: string, status: string) =>
        metrics.value('lipsync_http_request_duration_seconds_count', { operation, status });
      expect(count('create_render', '202')).toBe(2);
      expect(count('get_render', '404')).toBe(1);
      expect(count('other', '401')).toBe(1);
      expect(
        metrics.value('lipsync_http_errors_total', { operation: 'get_render', code: 'render_not_found' }),
      ).toBe(1);
      expect(
        metrics.value('lipsync_http_errors_total', { operation: 'other', code: 'invalid_api_key' }),
      ).toBe(1);
    });
    expect(await api.metrics.text()).not.toContain('anybody');
  });

  it('count replays of idempotent requests', async () => {
    const { key } = customer;
    const headers = { 'Idempotency-Key': 'one' };
    const json = preparationRequest();
    for (let i = 0; i < 3; i += 1) await api.operations.ok('create_preparation', { key, headers, json });
    await told(api, (metrics) => {
      const replays = (operation: string) => metrics.value('lipsync_idempotent_replays_total', { operation });
      expect(replays('create_preparation')).toBe(2);
      expect(replays('create_render')).toBe(0);
    });
  });

  it('are all there is without a collector, but what a request creates keeps the trace of its caller, or one of its own, that is logged', async () => {
    const { key } = customer;
    const render = async (name: string, headers: Record<string, string>) => {
      const options = { key, headers: { ...headers, 'X-Request-Id': name }, json: renderRequest() };
      const { body } = await api.operations.ok('create_render', options);
      const { traceParent } = await api.db.prisma.render.findUniqueOrThrow({ where: { id: body.id } });
      const line = await eventually(() => {
        const found = api.logLines().find(({ request_id }) => request_id === name);
        if (found === undefined) throw new Error('not yet logged');
        return found;
      });
      return { traceParent, traceId: line['trace_id'] };
    };
    expect(await render('traced-by-its-caller', { traceparent: CALLER })).toEqual({
      traceParent: CALLER,
      traceId: CALLER_TRACE,
    });
    const { traceParent, traceId } = await render('not-traced', {});
    expect(traceParent).toMatch(new RegExp(`^00-${String(traceId)}-[0-9a-f]{16}-00$`));
  });

  it("count the rate limiter's decisions for each of its allowances", async () => {
    const own = await startApi();
    const { key } = await own.newCustomer({ getPerMinute: 1, postPerMinute: 5 });
    await own.operations.refused('get_render', { key, id: 'x' });
    await own.operations.refused('get_render', { key, id: 'x' });
    await own.operations.refused('create_render', { key, json: {} });
    await own.operations.refused('get_render', { id: 'x' });
    await told(own, (metrics) => {
      const decisions = (limit: string, decision: string) =>
        metrics.value('lipsync_rate_limit_decisions_total', { limit, decision });
      expect([decisions('reads', 'allowed'), decisions('reads', 'refused')]).toEqual([1, 1]);
      expect([decisions('writes', 'allowed'), decisions('writes', 'refused')]).toEqual([1, 0]);
      expect([decisions('failed_auth', 'allowed'), decisions('failed_auth', 'refused')]).toEqual([1, 0]);
    });
    await own.close();
  });
});

describe('traces of the API', () => {
  let collector: OtlpCollector;
  let telemetry: Telemetry;
  let api: TestApi;
  let customer: TestCustomer;

  beforeAll(async () => {
    collector = await startOtlpCollector();
    telemetry = await openTracing(collector, 1);
    api = await startApi({ tracing: telemetry.tracing });
    customer = await api.newCustomer({ activeRecordsMax: 100 });
  });
  afterAll(async () => {
    await api.close();
    await collector.close();
  });

  it('continue in everything that a request creates', async () => {
    const { key } = customer;
    const headers = { traceparent: CALLER };
    const { prisma } = api.db;
    const render = await api.operations.ok('create_render', { key, headers, json: renderRequest() });
    const preparation = await api.operations.ok('create_preparation', {
      key,
      headers,
      json: preparationRequest(),
    });
    const asset = await api.operations.ok('create_asset', {
      key,
      headers,
      json: { url: VIDEO_URL, media_type: 'video' },
    });
    const upload = await createScenario(api, customer).upload();
    const before = await prisma.asset.findUniqueOrThrow({ where: { id: upload.assetId } });
    await api.operations.ok('complete_upload', { key, headers, id: upload.id });

    const kept = [
      await prisma.render.findUniqueOrThrow({ where: { id: render.body.id } }),
      await prisma.asset.findUniqueOrThrow({ where: { id: render.body.video_asset_id } }),
      await prisma.preparation.findUniqueOrThrow({ where: { id: preparation.body.id } }),
      await prisma.asset.findUniqueOrThrow({ where: { id: asset.body.id } }),
      await prisma.asset.findUniqueOrThrow({ where: { id: upload.assetId } }),
    ];
    expect(before.traceParent).toBeNull();
    for (const { traceParent } of kept) expect(traceParent).toMatch(`00-${CALLER_TRACE}-`);
    const places = new Set(kept.map(({ traceParent }) => traceParent));
    expect(places.size).toBe(4);
    expect(places).not.toContain(CALLER);
  });

  it('name the operation, and appear in the log line of the request', async () => {
    await api.operations.refused('get_render', {
      key: customer.key,
      id: 'x',
      headers: { 'X-Request-Id': 'traced' },
    });
    const line = await eventually(() => {
      const found = api.logLines().find(({ request_id }) => request_id === 'traced');
      if (found === undefined) throw new Error('not yet logged');
      return found;
    });
    await telemetry.tracing.close();
    const spans = collector.spans();
    expect(spans.find(({ traceId }) => traceId === line['trace_id'])).toMatchObject({
      service: 'api',
      name: 'get_render',
      kind: 2,
      parentSpanId: undefined,
      failed: false,
      attributes: { 'http.response.status_code': 404, 'lipsync.request_id': 'traced' },
    });
    const continued = spans.filter(({ traceId }) => traceId === CALLER_TRACE);
    expect(continued.map(({ name }) => name).sort()).toEqual([
      'complete_upload',
      'create_asset',
      'create_preparation',
      'create_render',
    ]);
    expect(continued.every(({ parentSpanId }) => parentSpanId === CALLER.slice(36, 52))).toBe(true);
    expect(new Set(spans.map(({ attributes }) => attributes['lipsync.request_id'])).size).toBe(spans.length);
  });
});

it('only a caller with a key decides whether its requests are traced; without one its trace is not continued', async () => {
  const collector = await startOtlpCollector();
  const { tracing } = await openTracing(collector, 0);
  const api = await startApi({ tracing });
  const customer = await api.newCustomer({ getPerMinute: 1 });
  const key = { ok: customer.key, wrong: `svc_${'0'.repeat(64)}` };
  const get = async (name: string, options: { key?: string }): Promise<unknown> => {
    const headers = { traceparent: CALLER, 'X-Request-Id': name };
    await api.operations.refused('get_render', { ...options, id: 'x', headers });
    return eventually(() => {
      const line = api.logLines().find(({ request_id }) => request_id === name);
      if (line === undefined) throw new Error('not yet logged');
      return line['trace_id'];
    });
  };
  expect(await get('known', { key: key.ok })).toBe(CALLER_TRACE);
  expect(await get('limited', { key: key.ok })).toBe(CALLER_TRACE);
  for (const own of [await get('without-key', {}), await get('wrong-key', { key: key.wrong })]) {
    expect(own).toMatch(/^[0-9a-f]{32}$/);
    expect(own).not.toBe(CALLER_TRACE);
  }
  await tracing.close();
  expect(collector.spans()).toMatchObject([
    { name: 'get_render', attributes: { 'lipsync.request_id': 'known' } },
    { name: 'http request', attributes: { 'lipsync.request_id': 'limited' } },
  ]);
  await api.close();
  await collector.close();
});
