import { createLogger } from '@lipsync/runtime';
import { openTelemetry, untraced } from '@lipsync/telemetry';
import { eventually, parseExposition, startOtlpCollector } from '@lipsync/testkit';
import { type DispatcherFixture, openDispatcherFixture, ORIGIN, silent } from './test/dispatcher-fixture';

let fixture: DispatcherFixture;

beforeEach(async () => {
  fixture = await openDispatcherFixture();
});
afterEach(() => fixture.close());

it('counts attempts by outcome, deliveries by how they ended, and how late the first attempts were', async () => {
  const customer = await fixture.newCustomer();
  const telemetry = untraced();
  fixture.receiver.reply((_request, index) => ({ status: [200, 500, 302][index] ?? 200 }));
  fixture.dispatch({ telemetry, delaysSeconds: [0.05], slots: 1 });
  const taken = await fixture.addDelivery(customer);
  await eventually(async () => expect(await fixture.read(taken.id)).toMatchObject({ status: 'delivered' }));
  const gone = await fixture.addDelivery(customer);
  await eventually(async () => expect(await fixture.read(gone.id)).toMatchObject({ status: 'failed' }));
  const told = await eventually(async () => {
    const metrics = parseExposition(await telemetry.metrics.text());
    expect(metrics.value('lipsync_webhook_deliveries_total', { status: 'failed' })).toBe(1);
    return metrics;
  });
  const attempts = (result: string) => told.value('lipsync_webhook_attempts_total', { result });
  expect([attempts('delivered'), attempts('http_error'), attempts('redirect')]).toEqual([1, 1, 1]);
  expect(attempts('timeout')).toBe(0);
  expect(told.value('lipsync_webhook_deliveries_total', { status: 'delivered' })).toBe(1);
  expect(told.value('lipsync_webhook_attempt_duration_seconds_count')).toBe(3);
  expect(told.value('lipsync_webhook_first_attempt_lag_seconds_count')).toBe(2);
  expect(told.value('lipsync_webhook_in_flight')).toBe(0);
  const turns = { loop: 'dispatch', outcome: 'completed' };
  expect(told.value('lipsync_loop_turns_total', turns)).toBeGreaterThan(0);
});

it('counts and logs a delivery that a claim found to be over, and does not send it', async () => {
  const customer = await fixture.newCustomer();
  const { id, eventId, renderId } = await fixture.addDelivery(customer);
  const createdAt = new Date(Date.now() - 2 * 86_400_000);
  await fixture.db.prisma.webhookDelivery.update({
    where: { id },
    data: { attempts: 3, lastError: 'http_error', createdAt },
  });
  const telemetry = untraced();
  const lines: string[] = [];
  const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
  fixture.dispatch({ telemetry, logger });
  const ended = await eventually(() => {
    const found = lines.filter((line) => line.includes('webhook_delivery_ended'));
    expect(found).toHaveLength(1);
    return found;
  });
  expect(JSON.parse(ended[0] ?? '')).toMatchObject({
    delivery_id: id,
    event_id: eventId,
    customer_id: customer.id,
    render_id: renderId,
    origin: ORIGIN,
    attempts: 3,
    error_class: 'http_error',
    status: 'failed',
  });
  const told = parseExposition(await telemetry.metrics.text());
  expect(told.value('lipsync_webhook_deliveries_total', { status: 'failed' })).toBe(1);
  expect(await fixture.read(id)).toMatchObject({ status: 'failed', attempts: 3 });
  expect(fixture.receiver.requests).toEqual([]);
});

it('attempts in the trace of the request whose record ended', async () => {
  const collector = await startOtlpCollector();
  const { metrics, tracing } = await openTelemetry({
    service: 'webhook-dispatcher',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_SAMPLER_ARG: 1 },
    logger: silent,
    lifecycle: { onShutdown: () => undefined },
  });
  const customer = await fixture.newCustomer();
  const { id, eventId } = await fixture.addDelivery(customer);
  const traceId = 'a'.repeat(32);
  const event = await fixture.db.prisma.webhookEvent.findUniqueOrThrow({ where: { id: eventId } });
  await fixture.db.prisma.render.create({
    data: {
      id: event.renderId ?? '',
      customerId: customer.id,
      status: 'completed',
      stage: 'completed',
      progressPercent: 100,
      syncMode: 'loop',
      completedAt: event.createdAt,
      videoAssetId: 'video',
      audioAssetId: 'audio',
      traceParent: `00-${traceId}-${'b'.repeat(16)}-01`,
      expiresAt: event.expiresAt,
    },
  });
  fixture.receiver.reply({ status: 503 });
  fixture.dispatch({ telemetry: { metrics, tracing } });
  await eventually(async () => expect(await fixture.read(id)).toMatchObject({ lastError: 'http_error' }));
  await tracing.close();
  expect(collector.spans()).toMatchObject([
    {
      service: 'webhook-dispatcher',
      name: 'webhook attempt',
      traceId,
      parentSpanId: 'b'.repeat(16),
      kind: 3,
      failed: true,
      attributes: {
        'error.type': 'http_error',
        'http.response.status_code': 503,
        'lipsync.delivery_id': id,
        'lipsync.attempt': 1,
      },
    },
  ]);
  await collector.close();
});

/** Dispatches until an attempt is logged; returns everything written so far. */
async function firstAttempt(): Promise<{ lines: string[]; attempts: string[] }> {
  const lines: string[] = [];
  fixture.dispatch({
    logger: createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } }),
  });
  await eventually(() => expect(lines.some((line) => line.includes('webhook_attempt'))).toBe(true));
  return { lines, attempts: lines.filter((line) => line.includes('webhook_attempt')) };
}

it('tells the operator why a receiver was not reached, and the customer only the class of failure', async () => {
  const { id } = await fixture.addDelivery(await fixture.newCustomer());
  fixture.receiver.reply('reset');
  const { attempts } = await firstAttempt();
  const attempt: unknown = JSON.parse(attempts[0] ?? '');
  expect(attempt).toMatchObject({ delivery_id: id, error_class: 'connection_failed' });
  expect(attempt).toHaveProperty('error.message', expect.stringMatching(/^connection_failed \(.+\)$/));
});

it('writes one log line per attempt with everything that is known, and no secret or body', async () => {
  const customer = await fixture.newCustomer();
  const { id, eventId, renderId } = await fixture.addDelivery(customer);
  const { lines, attempts } = await firstAttempt();
  expect(attempts).toHaveLength(1);
  expect(JSON.parse(attempts[0] ?? '')).toMatchObject({
    delivery_id: id,
    event_id: eventId,
    customer_id: customer.id,
    render_id: renderId,
    origin: ORIGIN,
    attempt: 1,
    outcome: 'delivered',
    http_status: 200,
    settled: true,
  });
  expect(lines.join('')).not.toMatch(new RegExp(`${customer.secret}|stored bytes|v1=`));
});
