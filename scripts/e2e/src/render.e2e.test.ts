import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type RenderRecord } from '@lipsync/client';
import { isSuccess } from '@lipsync/contract';
import { SAMPLE_AUDIO } from '@lipsync/local-stack';
import { probe, resolveBinaries } from '@lipsync/media';
import { METRICS, type ServiceName, SERVICES } from '@lipsync/telemetry';
import {
  eventually,
  type Exposition,
  type HttpsReceiver,
  makeFaceVideo,
  makeTone,
  type OtlpCollector,
  parseExposition,
  type ReceivedSpan,
  testFolder,
} from '@lipsync/testkit';
import {
  awaitAsset,
  awaitPreparation,
  awaitRender,
  expectRefusal,
  type SharedSystem,
  shareSystem,
} from './system';

const MEDIA_URL = 'https://media.example.test';
const CALLER_SPAN = 'b7ad6b7169203331';
/** Enough for its sync to be measured. */
const FRAMES = 80;
const TRACE = '0af7651916cd43dd8448eb211c80319c';
/** Span kind of a step within a unit of work. */
const INTERNAL = 1;

let system: SharedSystem;
let origin: HttpsReceiver;
const at = testFolder();
let videoId: string;

beforeAll(async () => {
  system = await shareSystem();
  await makeFaceVideo(at('face.mp4'), { frames: FRAMES, filters: 'scale=320:320' });
  // Its render does not end by itself for a while.
  await makeTone(at('long.m4a'), { seconds: 120 });
  const bodies: Record<string, string | Buffer> = {
    '/face.mp4': await readFile(at('face.mp4')),
    '/voice.wav': await readFile(SAMPLE_AUDIO),
    '/long.m4a': await readFile(at('long.m4a')),
    '/text.mp4': 'This is a letter, not a film.',
  };
  origin = await system.receive('media.example.test', ({ path: asked }) => {
    const body = bodies[asked];
    return body === undefined ? { status: 404 } : { status: 200, body };
  });
  videoId = (await system.api.uploads.create(at('face.mp4'), { mediaType: 'video' })).id;
});
afterAll(async () => {
  await system.stop();
  await origin.close();
});

const mediaByUrl = () => ({
  video: { url: `${MEDIA_URL}/face.mp4` },
  audio: { url: `${MEDIA_URL}/voice.wav` },
  engines: ['musetalk' as const],
  sync_mode: 'cut_off' as const,
  webhook_url: system.receiver.url,
});

describe('a render that completes', () => {
  let collector: OtlpCollector;
  let record: RenderRecord;

  beforeAll(async () => {
    collector = await system.collect();
    record = await awaitRender(system.api, await createTracedRender());
  });
  afterAll(() => collector.close());

  /** Creates a render like a caller that traces its own work. */
  async function createTracedRender(): Promise<string> {
    const response = await fetch(`${system.description.base_url}/v1/renders`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${system.customer.api_key}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${CALLER_SPAN}-01`,
      },
      body: JSON.stringify(mediaByUrl()),
    });
    const body: unknown = await response.json();
    if (!isSuccess('create_render', response.status, body)) throw new Error('the render was refused');
    return body.id;
  }

  it('has the pictures that its sync mode defines, and the sound beside them', async () => {
    expect(record).toMatchObject({ status: 'completed', stage: 'completed', progress_percent: 100 });
    const file = at('result.mp4');
    await system.api.outputs.download(record, 'musetalk', file);
    const binaries = await resolveBinaries(process.env);
    const { video } = await probe(binaries, file, { mediaType: 'video', deadlineMs: 60_000 });
    expect(video).toMatchObject({ codec: 'h264', frames: FRAMES });
    const { audio } = await probe(binaries, file, { mediaType: 'audio', deadlineMs: 60_000 });
    expect(audio?.codec).toBe('aac');
  });

  it('announces its end once, signed, in the state that get_render shows', async () => {
    const event = await system.receiver.eventFor(record.id);
    expect(event).toMatchObject({ id: record.webhook_event_id, type: 'render.completed', deliveries: 1 });
    // The receiver has the request before the dispatcher has the response.
    const delivery = await eventually(async () => {
      const found = await system.api.webhooks.get(event.id);
      expect(found.status).toBe('delivered');
      return found;
    });
    expect(delivery).toMatchObject({ id: event.id, delivery_id: event.deliveryId, attempts: 1 });
  });

  it('is one trace, from the caller through the queue to every worker and the webhook', async () => {
    const spans = await eventually(() => {
      const found = collector.spans().filter(({ traceId }) => traceId === TRACE);
      const units = found.filter(({ kind }) => kind !== INTERNAL);
      expect(units.map(({ service, name }) => `${service} ${name}`).sort()).toEqual([
        'api create_render',
        'gpu-worker render',
        'media-worker ingest',
        'media-worker ingest',
        'webhook-dispatcher webhook attempt',
      ]);
      return found;
    });
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
    expect(partsOf(unit('render'))).toEqual(['fetch', 'analyze', 'render', 'sign', 'upload']);
  });

  it('appears with its trace in the one log line of each unit of work, in every service', async () => {
    const lines = await eventually(async () => {
      const mine = (await logLines()).filter(({ trace_id }) => trace_id === TRACE);
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

  async function scrape(service: ServiceName): Promise<Exposition> {
    const found = system.description.services.find(({ name }) => name === service);
    const response = await fetch(new URL('/metrics', found?.health_url));
    return parseExposition(await response.text());
  }

  it('is counted where it was processed', async () => {
    await eventually(async () => {
      const [api, media, gpu, webhooks] = await Promise.all(SERVICES.map(scrape));
      const counts = [
        api?.value('lipsync_http_request_duration_seconds_count', {
          operation: 'create_render',
          status: '202',
        }),
        media?.value('lipsync_jobs_total', { queue: 'media', outcome: 'completed' }),
        gpu?.value('lipsync_output_seconds_total', { engine: 'musetalk' }),
        gpu?.value('lipsync_render_sync_correlation_count', { engine: 'musetalk' }),
        webhooks?.value('lipsync_webhook_attempts_total', { result: 'delivered' }),
        webhooks?.value('lipsync_webhook_deliveries_total', { status: 'delivered' }),
      ];
      for (const count of counts) expect(count).toBeGreaterThan(0);
      expect(media?.value('lipsync_live_slots', { queue: 'musetalk' })).toBe(1);
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

  it('exposes no metrics on any public port', async () => {
    const response = await fetch(`${system.description.base_url}/metrics`);
    expect(response.status).toBe(404);
  });
});

it('a render that names a preparation of its video analyzes nothing', async () => {
  const { api } = system;
  const video = { asset_id: videoId };
  const prepared = await awaitPreparation(api, (await api.preparations.create({ video })).id);
  expect(prepared).toMatchObject({ status: 'completed', preparation: { fps: 25 } });
  const { id } = await api.renders.create({ ...mediaByUrl(), video, preparation_id: prepared.id });
  const record = await awaitRender(api, id);
  expect(record).toMatchObject({ status: 'completed', preparation: prepared.preparation });
  expect(record.engines?.[0]?.usage.analyzed_frames ?? 0).toBe(0);
});

it('media that fails also fails its render and its preparation, and both report it by webhook', async () => {
  const { api, receiver } = system;
  const text = { url: `${MEDIA_URL}/text.mp4` };
  const failure = { status: 'failed', stage: 'failed', error: { code: 'media_unsupported' } };
  const render = await api.renders.create({ ...mediaByUrl(), video: text });
  const preparation = await api.preparations.create({ video: text, webhook_url: receiver.url });
  expect(await awaitRender(api, render.id)).toMatchObject({ ...failure, engines: [failure] });
  expect(await receiver.eventFor(render.id)).toMatchObject({ type: 'render.failed' });
  expect(await awaitPreparation(api, preparation.id)).toMatchObject(failure);
  expect(await receiver.eventFor(preparation.id)).toMatchObject({ type: 'preparation.failed' });
  expect(await awaitAsset(api, render.video_asset_id)).toMatchObject(failure);
  await expectRefusal(api.renders.cancel(render.id), 409, 'render_not_cancellable');
});

it('a render cancelled in progress ends there, and its worker continues with the next', async () => {
  const { api } = system;
  const { id } = await api.renders.create({
    ...mediaByUrl(),
    audio: { url: `${MEDIA_URL}/long.m4a` },
    sync_mode: 'loop',
  });
  await eventually(async () => expect((await api.renders.get(id)).engines?.[0]?.stage).toBe('inferencing'));
  const cancelled = await api.renders.cancel(id);
  expect(cancelled).toMatchObject({ status: 'cancelled', engines: [{ status: 'cancelled' }] });
  expect(await system.receiver.eventFor(id)).toMatchObject({ type: 'render.cancelled' });

  const next = await api.renders.create({ ...mediaByUrl(), video: { asset_id: videoId } });
  expect(await awaitRender(api, next.id)).toMatchObject({ status: 'completed' });
  // The worker has long moved on, and nothing changed after the cancellation.
  expect(await api.renders.get(id)).toEqual(cancelled);
  expect(await api.renders.cancel(id)).toEqual(cancelled);
});
