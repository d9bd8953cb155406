import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { RecordResource } from '@lipsync/contract';
import { ApiError, download, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { type Binaries, probe, resolveBinaries } from '@lipsync/media';
import { type SyncMeasurement } from '@lipsync/models';
import { eventually, type HttpsReceiver, startHttpsReceiver } from '@lipsync/testkit';
import { awaitPreparation, awaitRender, startSystem, type System } from './system';

jest.setTimeout(240_000);

const MEDIA_HOST = 'media.example.test';

/** Runs the measuring command on the files, as any user would. */
async function measure(...args: string[]): Promise<SyncMeasurement> {
  const command = path.join(REPOSITORY_ROOT, 'scripts', 'models', 'dist', 'measure-sync.js');
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args]);
  return JSON.parse(stdout) as SyncMeasurement;
}

describe('a render, from outside', () => {
  let system: System;
  let binaries: Binaries;
  let folder: string;
  let origin: HttpsReceiver;
  let videoId: string;
  let audioId: string;

  beforeAll(async () => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-render-'));
    origin = await startHttpsReceiver({ hostnames: [MEDIA_HOST] });
    system = await startSystem('render', {
      egressRoutes: [`${MEDIA_HOST}:443=${origin.address}`],
      egressCa: origin.ca,
    });
    videoId = (await system.api.upload(SAMPLE_VIDEO, 'video', 'video/mp4')).id;
    audioId = (await system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav')).id;
  });

  afterAll(async () => {
    await system.stop();
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  });

  const request = () => ({
    video: { asset_id: videoId },
    audio: { asset_id: audioId },
    engines: ['musetalk' as const],
    sync_mode: 'cut_off' as const,
  });

  async function resultOf(record: RecordResource, name: string): Promise<string> {
    const url = record.engines?.[0]?.output?.url;
    if (url === undefined) throw new Error(`${record.id} has no output`);
    const file = path.join(folder, name);
    await download(url, file);
    return file;
  }

  it('moves the mouth with the voice, keeps the rest of the picture, and has the length that its sync mode defines', async () => {
    const created = await system.api.createRender(request());
    const record = await awaitRender(system.api, created.id);
    expect(record).toMatchObject({ status: 'completed', stage: 'completed', progress_percent: 100 });

    const videoFile = await resultOf(record, 'cut-off.mp4');
    const measured = await measure('--video', videoFile, '--audio', SAMPLE_AUDIO, '--source', SAMPLE_VIDEO);
    expect(measured.rendered.pearson).toBeGreaterThanOrEqual(0.6);
    expect(Math.abs(measured.rendered.lagFrames ?? NaN)).toBeLessThanOrEqual(2);
    expect(measured.source?.pearson).toBeLessThan(0.4);
    expect(measured.outside_face?.psnr_db).toBeGreaterThanOrEqual(45);
    expect(measured.duration?.within_one_frame).toBe(true);
    const sound = await probe(binaries, videoFile, { mediaType: 'audio', deadlineMs: 60_000 });
    expect(sound.audio?.codec).toBe('aac');
  });

  it('announces its end once, signed, in the state that get_render shows', async () => {
    const created = await system.api.createRender({ ...request(), webhook_url: system.receiver.url });
    const event = await system.receiver.eventFor(created.id);
    const record = await awaitRender(system.api, created.id);
    expect(event).toMatchObject({ id: record.webhook_event_id, type: 'render.completed', deliveries: 1 });
    // The receiver has the request before the dispatcher has the response.
    const settled = await eventually(async () => {
      const delivery = await system.api.getWebhook(event.id);
      expect(delivery.status).toBe('delivered');
      return delivery;
    });
    expect(settled).toMatchObject({ id: event.id, delivery_id: event.deliveryId, attempts: 1 });
  });

  it('skips the analysis when it names a preparation of the same video', async () => {
    const preparation = await system.api.createPreparation({ video: { asset_id: videoId } });
    const prepared = await awaitPreparation(system.api, preparation.id);
    expect(prepared).toMatchObject({ status: 'completed', preparation: { fps: 25 } });
    const created = await system.api.createRender({ ...request(), preparation_id: preparation.id });
    const record = await awaitRender(system.api, created.id);
    expect(record).toMatchObject({ status: 'completed', preparation: prepared.preparation });
    expect(record.engines?.[0]?.usage.analyzed_frames ?? 0).toBe(0);
  });

  it('fetches media from https URLs, each into an asset of its own', async () => {
    const [video, audio] = await Promise.all([readFile(SAMPLE_VIDEO), readFile(SAMPLE_AUDIO)]);
    origin.reply(({ path: asked }) => ({ status: 200, body: asked === '/face.mp4' ? video : audio }));
    const created = await system.api.createRender({
      ...request(),
      video: { url: `https://${MEDIA_HOST}/face.mp4` },
      audio: { url: `https://${MEDIA_HOST}/speech.wav` },
    });
    expect(created.stage).toBe('queued');
    expect(await awaitRender(system.api, created.id)).toMatchObject({ status: 'completed' });
    const asset = await system.api.getAsset(created.video_asset_id);
    expect(asset).toMatchObject({ status: 'ready', media: { size_bytes: video.length, codec: 'h264' } });
  });

  it('has the length that each sync mode defines', async () => {
    const [video, audio] = await Promise.all([
      probe(binaries, SAMPLE_VIDEO, { mediaType: 'video', deadlineMs: 60_000 }),
      probe(binaries, SAMPLE_AUDIO, { mediaType: 'audio', deadlineMs: 60_000 }),
    ]);
    const [v, a] = [video.video?.durationSeconds ?? 0, audio.audio?.durationSeconds ?? 0];
    const expected = { bounce: a, loop: a, remap: a, silence: Math.max(v, a) } as const;
    const modes = Object.keys(expected) as (keyof typeof expected)[];
    const renders = await Promise.all(
      modes.map((sync_mode) => system.api.createRender({ ...request(), sync_mode })),
    );
    for (const [i, mode] of modes.entries()) {
      const record = await awaitRender(system.api, renders[i]?.id ?? '');
      const { video: output } = await probe(binaries, await resultOf(record, `${mode}.mp4`), {
        mediaType: 'video',
        deadlineMs: 60_000,
      });
      expect(Math.abs((output?.durationSeconds ?? 0) - expected[mode])).toBeLessThanOrEqual(0.0401);
    }
  });

  it('is invisible to another customer, in all of its parts', async () => {
    const created = await system.api.createRender(request());
    const foreign = system.otherApi;
    const refusals = [
      [foreign.getRender(created.id), 'render_not_found'],
      [foreign.cancelRender(created.id), 'render_not_found'],
      [foreign.getAsset(videoId), 'asset_not_found'],
      [foreign.createRender(request()), 'asset_not_found'],
    ] as const;
    for (const [call, code] of refusals) {
      const refusal = await call.then(
        () => null,
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(ApiError);
      expect(refusal).toMatchObject({ status: 404, error: { code } });
    }
    await system.api.cancelRender(created.id);
  });

  it('stays cancelled once it is cancelled', async () => {
    const created = await system.api.createRender({ ...request(), webhook_url: system.receiver.url });
    const cancelled = await system.api.cancelRender(created.id);
    expect(cancelled).toMatchObject({ status: 'cancelled' });
    expect(await system.api.cancelRender(created.id)).toEqual(cancelled);
    expect(await system.receiver.eventFor(created.id)).toMatchObject({ type: 'render.cancelled' });
    expect(await system.api.getRender(created.id)).toMatchObject({ status: 'cancelled', stage: 'cancelled' });
  });
});
