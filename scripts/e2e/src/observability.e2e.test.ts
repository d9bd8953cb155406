import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { isSuccess } from '@lipsync/contract';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { METRICS, type ServiceName, SERVICES } from '@lipsync/telemetry';
import {
  eventually,
  type Exposition,
  type HttpsReceiver,
  type OtlpCollector,
  parseExposition,
  type ReceivedSpan,
  startHttpsReceiver,
  startOtlpCollector,
} from '@lipsync/testkit';
import { awaitRender, startSystem, type System } from './system';

jest.setTimeout(240_000);

const MEDIA_HOST = 'media.example.test';
const CALLER_SPAN = 'b7ad6b7169203331';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
/** Span kind of a step within a unit of work. */
const INTERNAL = 1;
/** Spans leave a process in batches. */
const SENT = { deadlineMs: 30_000 };

describe('a render, as its operator sees it', () => {
  let system: System;
  let origin: HttpsReceiver;
  let collector: OtlpCollector;
  let renderId: string;

  beforeAll(async () => {
    const [video, audio] = await Promise.all([readFile(SAMPLE_VIDEO), readFile(SAMPLE_AUDIO)]);
    origin = await startHttpsReceiver({
      hostnames: [MEDIA_HOST],
      script: ({ path: asked }) => ({ status: 200, body: asked === '/face.mp4' ? video : audio }),
    });
    collector = await startOtlpCollector();
    system = await startSystem('observability', {
      egressRoutes: [`${MEDIA_HOST}:443=${origin.address}`],
      egressCa: origin.ca,
      serviceEnv: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
    });
    renderId = await createTracedRender();
    await awaitRender(system.api, renderId);
    await system.receiver.eventFor(renderId);
  });

  afterAll(async () => {
    await system.stop();
    await origin.close();
    await collector.close();
  });

  /** Creates a render like a caller that traces its own work. */
  async function createTracedRender(): Promise<string> {
    const response = await fetch(`${system.description.base_url}/v1/renders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${system.customer.api_key}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${CALLER_SPAN}-01`,
      },
      body: JSON.stringify({
        video: { url: `https://${MEDIA_HOST}/face.mp4` },
        audio: { url: `https://${MEDIA_HOST}/speech.wav` },
        engines: ['musetalk'],
        sync_mode: 'cut_off',
        webhook_url: system.receiver.url,
      }),
    });
    const body: unknown = await response.json();
    if (!isSuccess('create_render', response.status, body)) throw new Error('the render was refused');
    return body.id;
  }

  const traced = (): ReceivedSpan[] => collector.spans().filter(({ traceId }) => traceId === TRACE);

  async function scrape(service: ServiceName): Promise<Exposition> {
    const found = system.description.services.find(({ name }) => name === service);
    const response = await fetch(new URL('/metrics', found?.health_url));
    return parseExposition(await response.text());
  }

  it('is one trace, from the caller through the queue to every worker and the webhook', async () => {
    const spans = await eventually(() => {
      const found = traced();
      const units = found.filter(({ kind }) => kind !== INTERNAL);
      expect(units.map(({ service, name }) => `${service} ${name}`).sort()).toEqual([
        'api create_render',
        'gpu-worker render',
        'media-worker ingest',
        'media-worker ingest',
        'webhook-dispatcher webhook attempt',
      ]);
      return found;
    }, SENT);
    const unit = (name: string) => spans.find((span) => span.name === name && span.kind !== INTERNAL);
    const request = unit('create_render');
    expect(request?.parentSpanId).toBe(CALLER_SPAN);
    for (const name of ['ingest', 'render', 'webhook attempt'])
      expect(unit(name)).toMatchObject({ parentSpanId: request?.spanId, failed: false });
    const waits = spans.map(({ attributes }) => attributes['lipsync.queue_wait_seconds']);
    expect(waits.filter((wait) => typeof wait === 'number')).toHaveLength(3);

    const partsOf = (job: ReceivedSpan | undefined) =>
      spans.filter(({ parentSpanId }) => parentSpanId === job?.spanId).map(({ name }) => name);
    expect(partsOf(unit('ingest'))).toEqual(['fetch', 'probe', 'store']);
    expect(partsOf(unit('render'))).toEqual(['fetch', 'analyse', 'render', 'upload']);
  });

  it('appears with its trace in the one log line of each unit of work, in every service', async () => {
    const lines = await eventually(async () => {
      const found = await logLines();
      const mine = found.filter(({ trace_id }) => trace_id === TRACE);
      expect(new Set(mine.map(({ service }) => service)).size).toBe(SERVICES.length);
      return mine;
    });
    expect(lines.map(({ service, event }) => `${String(service)} ${String(event)}`).sort()).toEqual([
      'api http_request',
      'gpu-worker job',
      'media-worker job',
      'media-worker job',
      'webhook-dispatcher webhook_attempt',
    ]);
  });

  async function logLines(): Promise<Record<string, unknown>[]> {
    const { logs_dir } = system.description;
    const files = (await readdir(logs_dir)).filter((name) => name.endsWith('.log'));
    const texts = await Promise.all(files.map((name) => readFile(path.join(logs_dir, name), 'utf8')));
    return texts
      .flatMap((text) => text.split('\n'))
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it('is counted where it was processed', async () => {
    await eventually(async () => {
      const [api, media, gpu, webhooks] = await Promise.all(SERVICES.map(scrape));
      const created = { operation: 'create_render', status: '202' };
      expect(api?.value('lipsync_http_request_duration_seconds_count', created)).toBe(1);
      expect(media?.value('lipsync_jobs_total', { queue: 'media', outcome: 'completed' })).toBe(2);
      expect(media?.value('lipsync_live_slots', { queue: 'musetalk' })).toBe(1);
      expect(gpu?.value('lipsync_output_seconds_total', { engine: 'musetalk' })).toBeGreaterThan(0);
      expect(gpu?.value('lipsync_render_sync_correlation_count', { engine: 'musetalk' })).toBe(1);
      expect(webhooks?.value('lipsync_webhook_attempts_total', { result: 'delivered' })).toBe(1);
      expect(webhooks?.value('lipsync_webhook_deliveries_total', { status: 'delivered' })).toBe(1);
    });
  });

  it.each(SERVICES)('%s exports all of its metrics, and none that is not listed', async (service) => {
    const told = await scrape(service);
    const ours = [...told.families.keys()].filter((name) => name.startsWith('lipsync_'));
    const listed = Object.entries(METRICS)
      .filter(([, { services }]) => services.some((each) => each === service))
      .map(([name]) => `lipsync_${name}`);
    expect(ours.sort()).toEqual(listed.sort());
    expect(told.value('lipsync_build_info', { component: service })).toBe(1);
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
      expect(told.value(name)).toBeGreaterThan(0);
  });

  it('is not exposed on any public port', async () => {
    const response = await fetch(`${system.description.base_url}/metrics`);
    expect(response.status).toBe(404);
  });
});
