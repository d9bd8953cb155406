import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { eventually } from '@lipsync/testkit';
import { Client } from 'pg';
import { awaitRender, killHard, startSystem, type System } from './system';

jest.setTimeout(480_000);

describe('kill -9 of a service during a render', () => {
  let system: System;

  beforeAll(async () => {
    system = await startSystem('kill');
  });
  afterAll(() => system.stop());

  async function startRender(): Promise<string> {
    const [video, audio] = await Promise.all([
      system.api.upload(SAMPLE_VIDEO, 'video', 'video/mp4'),
      system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav'),
    ]);
    const { id } = await system.api.createRender({
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk'],
      sync_mode: 'cut_off',
      webhook_url: system.receiver.url,
    });
    return id;
  }

  /**
   * Checks that the render completed, emitted one event (`eventFor` refuses a second one), and that it was delivered.
   */
  async function expectOneCompletion(id: string): Promise<void> {
    const record = await awaitRender(system.api, id);
    expect(record.status).toBe('completed');
    const event = await system.receiver.eventFor(id);
    expect(event).toMatchObject({ id: record.webhook_event_id, type: 'render.completed' });
    await eventually(async () => expect((await system.api.getWebhook(event.id)).status).toBe('delivered'), {
      deadlineMs: 60_000,
    });
  }

  /** How often workers have claimed the render's job. */
  async function claimsOf(renderId: string): Promise<number> {
    const client = new Client({ connectionString: system.description.postgres_url });
    await client.connect();
    try {
      const { rows } = await client.query<{ attempts: number }>(
        'SELECT attempts FROM jobs JOIN engine_runs ON engine_runs.id = jobs.engine_run_id WHERE render_id = $1',
        [renderId],
      );
      return rows[0]?.attempts ?? 0;
    } finally {
      await client.end();
    }
  }

  const whileRendering = (id: string) =>
    eventually(
      async () => {
        const { engines } = await system.api.getRender(id);
        expect(engines?.[0]?.status).toBe('processing');
      },
      { deadlineMs: 60_000 },
    );

  it('gpu-worker: another one takes over, and the render completes once', async () => {
    const id = await startRender();
    await whileRendering(id);
    await killHard(system, 'gpu-worker');
    await system.up();
    await eventually(async () => expect(await claimsOf(id)).toBeGreaterThan(1), { deadlineMs: 120_000 });
    await expectOneCompletion(id);
  });

  it.each(['media-worker', 'webhook-dispatcher', 'api'])(
    '%s: the render completes once it is back',
    async (service) => {
      const id = await startRender();
      await killHard(system, service);
      await system.up();
      await expectOneCompletion(id);
    },
  );
});
