import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES, type RecordResource } from '@lipsync/contract';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { eventually } from '@lipsync/testkit';
import { Client } from 'pg';
import { awaitPreparation, awaitRender, killHard, startSystem, type System } from './system';

jest.setTimeout(300_000);
const PATIENCE_MS = 240_000;

describe('the analysis of a video', () => {
  let system: System;
  let folder: string;
  let database: Client;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-features-'));
    system = await startSystem('features');
    database = new Client({ connectionString: system.description.postgres_url });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await system.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Uploads the sample face in bytes that this system has never seen; uploads with the same name are identical. */
  async function upload(name: string): Promise<string> {
    const file = path.join(folder, `${name}.mp4`);
    const padding = Buffer.concat([Buffer.from([0, 0, 0, 8 + name.length]), Buffer.from(`free${name}`)]);
    await writeFile(file, Buffer.concat([await readFile(SAMPLE_VIDEO), padding]));
    return (await system.api.upload(file, 'video', 'video/mp4')).id;
  }
  async function render(
    videoId: string,
    engines: readonly Engine[],
    preparationId?: string,
  ): Promise<string> {
    const audio = await system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav');
    const { id } = await system.api.createRender({
      video: { asset_id: videoId },
      audio: { asset_id: audio.id },
      engines: [...engines],
      sync_mode: 'cut_off',
      ...(preparationId === undefined ? {} : { preparation_id: preparationId }),
    });
    return id;
  }
  const analyzedFrames = ({ engines = [] }: RecordResource): number[] =>
    engines.map(({ usage }) => usage.analyzed_frames ?? 0);

  it('is made once for the three engines of a render, and not again for the same bytes in another asset', async () => {
    const first = await awaitRender(system.api, await render(await upload('twice'), ENGINES), PATIENCE_MS);
    expect(first.engines?.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(analyzedFrames(first).filter((frames) => frames > 0)).toHaveLength(1);
    const second = await awaitRender(system.api, await render(await upload('twice'), ['musetalk']));
    expect(second.status).toBe('completed');
    expect(analyzedFrames(second)).toEqual([0]);
  });

  it('is reused by the renders of a preparation', async () => {
    const videoId = await upload('prepared');
    const { id } = await system.api.createPreparation({ video: { asset_id: videoId } });
    expect((await awaitPreparation(system.api, id)).status).toBe('completed');
    const prepared = await awaitRender(system.api, await render(videoId, ['musetalk'], id));
    expect(prepared.status).toBe('completed');
    expect(analyzedFrames(prepared)).toEqual([0]);
  });

  it('is made again, and once, when the worker making it is killed', async () => {
    const id = await render(await upload('killed'), ['musetalk']);
    const isMade = `SELECT FROM features JOIN jobs ON jobs.id = maker_job_id
      JOIN engine_runs ON engine_runs.id = engine_run_id WHERE render_id = $1`;
    await eventually(async () => expect((await database.query(isMade, [id])).rowCount).toBe(1), {
      deadlineMs: 60_000,
    });
    await killHard(system, 'gpu-worker');
    await system.up();
    const record = await awaitRender(system.api, id);
    expect(record.status).toBe('completed');
    expect(analyzedFrames(record)[0]).toBeGreaterThan(0);
    expect((await database.query(isMade, [id])).rowCount).toBe(0);
  });
});
