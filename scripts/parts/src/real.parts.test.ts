import { execFile } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ENGINES } from '@lipsync/contract';
import {
  awaitAsset,
  awaitPreparation,
  awaitRender,
  createAdmin,
  expectRefusal,
  startSystem,
  type System,
} from '@lipsync/e2e';
import {
  lipsyncRender,
  quantile,
  REPOSITORY_ROOT,
  SAMPLE_AUDIO,
  SAMPLE_VIDEO,
  type StoreAccess,
} from '@lipsync/local-stack';
import { eventually, type HttpsReceiver, startHttpsReceiver } from '@lipsync/testkit';
import { Client } from 'pg';
import { distributionInstallation, failoverInstallation, foundParts } from './installations';
import type { Part } from './part';

jest.setTimeout(300_000);

const found = foundParts();

const HOST = 'origin.example.test';
const HOOK_PATH = '/measured';
/** Long enough for a render to reach its end in it. */
const DOWN_MS = 10_000;
/** Longer than a lease, and longer than any socket waits. */
const SILENT_MS = 20_000;
const MEASURED_EVENTS = 60;

/** What befalls a part while it is needed. */
const OUTAGES: Record<string, (part: Part) => Promise<void>> = {
  'killed and restarted': async (part) => {
    await part.kill();
    await delay(DOWN_MS);
    await part.start();
  },
  silent: async (part) => {
    part.silence();
    await delay(SILENT_MS);
    part.resume();
  },
};

const installations = [
  distributionInstallation(found),
  ...(found.versions['haproxy'] === undefined ? [] : [failoverInstallation(found)]),
];

describe.each(installations)('$name', (installation) => {
  const { name, servers, proxy } = installation;
  const parts = [...installation.parts, ...(proxy ? [proxy] : [])];
  const outages = parts
    .filter(({ lasts }) => !lasts)
    .flatMap((part) =>
      Object.entries(OUTAGES).map(([outage, befall]) => ({ ...part, part, outage, befall })),
    );
  let system: System;
  let origin: HttpsReceiver;
  let videoId: string;
  let audioId: string;

  beforeAll(async () => {
    const video = await readFile(SAMPLE_VIDEO);
    origin = await startHttpsReceiver({
      hostnames: [HOST],
      script: (request) => (request.path === HOOK_PATH ? { status: 204 } : { status: 200, body: video }),
    });
    for (const part of installation.parts) await part.start();
    if (servers.store !== undefined) await createBucket(servers.store);
    system = await startSystem(`parts-${name}`, {
      egressRoutes: [`${HOST}:443=${origin.address}`],
      egressCa: origin.ca,
      servers,
      ...(proxy && {
        publicUrl: proxy.url,
        serviceEnv: { PUBLIC_BASE_URL: proxy.url, TRUSTED_PROXY_HOPS: '1' },
      }),
    });
    await proxy?.start({ API_PORT: new URL(system.description.base_url).port });
    videoId = (await system.api.uploads.create(SAMPLE_VIDEO, { mediaType: 'video' })).id;
    audioId = (await system.api.uploads.create(SAMPLE_AUDIO, { mediaType: 'audio' })).id;
  });

  afterAll(async () => {
    try {
      await system.stop();
    } finally {
      for (const part of parts.reverse()) await part.kill();
      await origin.close();
    }
  });

  const request = (webhookUrl: string) => ({
    video: { asset_id: videoId },
    audio: { asset_id: audioId },
    engines: ['musetalk' as const],
    sync_mode: 'cut_off' as const,
    webhook_url: webhookUrl,
  });

  it('tour: a customer uploads, renders with three engines, polls, is notified and downloads', async () => {
    const { render, files } = await lipsyncRender(
      [
        ...[SAMPLE_VIDEO, SAMPLE_AUDIO, '--engines', 'all', '--webhook', system.receiver.url],
        ...['--out', path.join(found.dir, `${name}.mp4`), '--force', '--quiet'],
      ],
      { baseUrl: proxy?.url ?? system.description.base_url, apiKey: system.customer.api_key },
    );
    const event = await system.receiver.eventFor(render.id);
    expect(render.status).toBe('completed');
    expect(event).toMatchObject({ type: 'render.completed', deliveries: 1 });
    expect(files.map(({ engine }) => engine).sort()).toEqual([...ENGINES].sort());
  });

  it('operations: each of the contract answers as it promises', async () => {
    const { api, otherApi, receiver } = system;
    const upload = await api.uploads.begin({
      media_type: 'audio',
      content_type: 'audio/wav',
      size_bytes: 100,
    });
    await expectRefusal(api.uploads.complete(upload.id), 409, 'upload_incomplete');
    const asset = await api.assets.create({ url: `https://${HOST}/face.mp4`, media_type: 'video' });
    expect(await awaitAsset(api, asset.id)).toMatchObject({ status: 'ready' });
    const preparation = await api.preparations.create({ video: { asset_id: asset.id } });
    expect(await awaitPreparation(api, preparation.id)).toMatchObject({ status: 'completed' });

    const body = { ...request(receiver.url), idempotency_key: 'once' };
    const [first, second] = await Promise.all([api.renders.create(body), api.renders.create(body)]);
    expect(second.id).toBe(first.id);
    await expectRefusal(otherApi.renders.get(first.id), 404, 'render_not_found');
    const cancelled = await api.renders.cancel(first.id);
    expect(await api.renders.get(first.id)).toMatchObject({ status: 'cancelled' });
    const event = await receiver.eventFor(first.id);
    expect(event).toMatchObject({ id: cancelled.webhook_event_id, type: 'render.cancelled' });
    expect(await api.webhooks.get(event.id)).toMatchObject({ id: event.id });
  });

  it('bucket: admin bucket check finds it fit for the service', async () => {
    expect(await createAdmin(system).run('bucket', 'check')).toMatchObject({ exitCode: 0 });
  });

  it.each(outages)(
    '$title: $outage in the middle of a render, which ends once all the same',
    async ({ part, befall }) => {
      const { api, receiver } = system;
      const { id } = await api.renders.create(request(receiver.url));
      await eventually(async () =>
        expect((await api.renders.get(id)).engines?.[0]?.status).toBe('processing'),
      );
      await befall(part);
      const record = await awaitRender(api, id);
      expect(record).toMatchObject({ status: 'completed', progress_percent: 100 });
      // Refuses a second event.
      const event = await receiver.eventFor(id);
      expect(event).toMatchObject({ id: record.webhook_event_id, type: 'render.completed' });
      await eventually(async () => expect((await api.webhooks.get(event.id)).status).toBe('delivered'));
      const output = await fetch(record.engines?.[0]?.output?.url ?? '');
      expect(output.status).toBe(200);
    },
  );

  it('webhooks: of one event a second, the first attempts begin while the events come', async () => {
    for (let i = 0; i < MEASURED_EVENTS; i++) {
      const second = delay(1_000);
      const { id } = await system.api.renders.create(request(`https://${HOST}${HOOK_PATH}`));
      await system.api.renders.cancel(id);
      await second;
    }
    const attempts = () => origin.requests.filter(({ path: requested }) => requested === HOOK_PATH);
    const allBegan = eventually(() => expect(attempts()).toHaveLength(MEASURED_EVENTS));
    // The figures are of most interest when there are too few.
    await allBegan.catch(() => undefined);
    const began = attempts().map(({ headers, receivedAtMs }) => [headers['svc-event-id'], receivedAtMs]);
    const waits = await secondsSinceEnd(began);
    const [p50, p99] = [0.5, 0.99].map((q) => quantile(waits, q).toFixed(3));
    await appendFile(
      path.join(found.dir, 'figures'),
      `${name}: of ${MEASURED_EVENTS} events, one a second, ${waits.length} were attempted; seconds from the end of the record to the first attempt: p50 ${p50}, p99 ${p99}\n`,
    );
    await allBegan;
  });

  /** How long after its event was written each first attempt arrived; attempts are given as event id and time. */
  async function secondsSinceEnd(began: readonly unknown[]): Promise<number[]> {
    const client = new Client({ connectionString: servers.migrationUrl ?? servers.postgresUrl });
    await client.connect();
    const { rows } = await client.query<{ seconds: number }>(
      `SELECT (began.value ->> 1)::float8 / 1000 - extract(epoch FROM created_at)::float8 AS seconds
       FROM webhook_events, jsonb_array_elements($1) AS began WHERE id = began.value ->> 0`,
      [JSON.stringify(began)],
    );
    await client.end();
    return rows.map(({ seconds }) => seconds);
  }
});

/** As the operator does it. */
async function createBucket({ endpoint, bucket, accessKeyId, secretAccessKey }: StoreAccess): Promise<void> {
  const command = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'admin.js');
  const env = {
    ...process.env,
    DATABASE_URL: '',
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  await promisify(execFile)(process.execPath, [command, 'bucket', 'create'], { env });
}
