import { createHash } from 'node:crypto';
import { awaitRender, createAdmin, expectRefusal, killHard, startSystem, type System } from '@lipsync/e2e';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { Client } from 'pg';
import { backedUpInstallation, foundParts } from './installations';

jest.setTimeout(300_000);

const found = foundParts();
const SERVICES = ['api', 'media-worker', 'gpu-worker', 'webhook-dispatcher'];

// The PostgreSQL that the repository brings has no pg_dump.
(found.versions['postgres'] === undefined ? describe.skip : describe)('backup', () => {
  const installation = backedUpInstallation(found);
  let system: System;

  beforeAll(async () => {
    for (const part of installation.parts) await part.start();
    system = await startSystem('parts-backup', { servers: installation.servers });
  });
  afterAll(async () => {
    try {
      await system.stop();
    } finally {
      for (const part of installation.parts) await part.kill();
    }
  });

  /** A completed render, and the digest of its output. */
  async function render(videoId: string, audioId: string): Promise<{ id: string; sha256: string }> {
    const { id } = await system.api.renders.create({
      video: { asset_id: videoId },
      audio: { asset_id: audioId },
      engines: ['musetalk'],
      sync_mode: 'cut_off',
      webhook_url: system.receiver.url,
    });
    await awaitRender(system.api, id);
    return { id, sha256: await digestOfOutput(id) };
  }

  async function digestOfOutput(id: string): Promise<string> {
    const { engines } = await system.api.renders.get(id);
    const response = await fetch(engines?.[0]?.output?.url ?? '');
    if (!response.ok) throw new Error(`the output answers ${response.status}`);
    return createHash('sha256')
      .update(Buffer.from(await response.arrayBuffer()))
      .digest('hex');
  }

  async function expire(renderId: string): Promise<void> {
    const client = new Client({ connectionString: installation.servers.postgresUrl });
    await client.connect();
    await client.query("UPDATE renders SET expires_at = now() - interval '1 hour' WHERE id = $1", [renderId]);
    await client.end();
  }

  it('postgres: one command brings back the database and the objects of a dump, and the service goes on', async () => {
    const admin = createAdmin(system);
    const video = await system.api.uploads.create(SAMPLE_VIDEO, { mediaType: 'video' });
    const audio = await system.api.uploads.create(SAMPLE_AUDIO, { mediaType: 'audio' });
    const before = await render(video.id, audio.id);
    await admin.json('backup', 'create');
    const [dump] = await admin.json<{ taken_at: string }[]>('backup', 'list');
    const after = await render(video.id, audio.id);
    await expire(before.id);
    expect(await admin.json('purge')).toMatchObject({ purged: 1 });
    await expectRefusal(system.api.renders.get(before.id), 410, 'render_expired');

    const restore = ['backup', 'restore', '--to', String(dump?.taken_at).replace(/\.\d+/, '')];
    const { exitCode, stderr } = await admin.run(...restore);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('stop the services first')]);
    for (const service of SERVICES) await killHard(system, service);
    expect(await admin.json(...restore)).toMatchObject({ objects_restored: 1 });
    expect((await admin.json<{ command: string }[]>('audit')).at(-1)).toMatchObject({
      command: 'backup restore',
    });
    await system.up();

    expect(await digestOfOutput(before.id)).toBe(before.sha256);
    await expectRefusal(system.api.renders.get(after.id), 404, 'render_not_found');
    await render(video.id, audio.id);
    const kinds = (await admin.json<{ key: string }[]>('backup', 'list')).map(
      ({ key }) => /Z(.*)$/.exec(key)?.[1],
    );
    expect(kinds).toEqual(['.before-restore.dump', '.dump']);
  });
});
