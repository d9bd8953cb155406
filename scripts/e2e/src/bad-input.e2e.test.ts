import {
  type Asset,
  ENGINES,
  type ErrorCode,
  type ErrorResponse,
  type OperationId,
  type RenderRequest,
} from '@lipsync/contract';
import {
  BAD_FILES,
  BAD_REDIRECTS,
  type BadMediaOrigin,
  MEDIA_HOST,
  startBadMediaOrigin,
} from '@lipsync/corpora';
import { newId } from '@lipsync/domain';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { eventually, expectContract, ffmpeg, type HostileMedia } from '@lipsync/testkit';
import { awaitAsset, awaitPreparation, awaitRender, expectRefusal, startSystem, type System } from './system';

jest.setTimeout(120_000);

describe('bad input, from outside', () => {
  let system: System;
  let origin: BadMediaOrigin;
  let files: HostileMedia;
  let video: Asset;
  let audio: Asset;
  const fetched = new Map<string, string>();

  const at = (path: string) => `https://${MEDIA_HOST}${path}`;
  const request = (changes: Partial<RenderRequest> = {}): RenderRequest => ({
    video: { asset_id: video.id },
    audio: { asset_id: audio.id },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
    ...changes,
  });

  beforeAll(async () => {
    origin = await startBadMediaOrigin();
    [files, system] = await Promise.all([
      origin.serveFiles(),
      startSystem('bad-input', {
        egressRoutes: [`${MEDIA_HOST}:443=${origin.receiver.address}`],
        egressCa: origin.receiver.ca,
      }),
    ]);
    [video, audio] = await Promise.all([
      system.api.upload(SAMPLE_VIDEO, 'video', 'video/mp4'),
      system.api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav'),
    ]);
    // All at once: the media worker processes them while the other tests run.
    for (const [, path, mediaType] of [...BAD_FILES, ...BAD_REDIRECTS]) {
      fetched.set(path, (await system.api.createAsset({ url: at(path), media_type: mediaType })).id);
    }
  });
  afterAll(async () => {
    await system.stop();
    await origin.close();
  });

  describe('a request', () => {
    /** Posts exactly these bytes and returns the code of the refusal, whose status is checked against the contract. */
    async function post(operationId: OperationId, path: string, body: string, headers: object = {}) {
      const response = await fetch(new URL(path, system.description.base_url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${system.customer.api_key}`,
          'content-type': 'application/json',
          ...headers,
        },
        body,
      });
      const answer = { status: response.status, headers: response.headers, body: await response.json() };
      return (expectContract(operationId, answer) as ErrorResponse).error.code;
    }

    const render = (changes: object) => () => JSON.stringify({ ...request(), ...changes });
    const from = (url: string) => render({ video: { url } });
    const both = { asset_id: 'ast_00000000000000000000000000', url: at('/a.mp4') };

    it.each<[string, () => string, ErrorCode]>([
      ['malformed JSON', () => '{"video": {', 'invalid_json'],
      ['an array', () => '[]', 'invalid_json'],
      ['an unknown property', render({ seed: 7 }), 'invalid_request'],
      ['a wrong type', render({ sync_mode: 7 }), 'invalid_request'],
      ['both asset_id and url', render({ video: both }), 'invalid_request'],
      ['no engine', render({ engines: [] }), 'invalid_request'],
      ['four engines', render({ engines: [...ENGINES, 'musetalk'] }), 'invalid_request'],
      ['an engine twice', render({ engines: ['musetalk', 'musetalk'] }), 'invalid_request'],
      ['a key of 129 characters', render({ idempotency_key: 'k'.repeat(129) }), 'invalid_idempotency_key'],
      ['plain http', from('http://media.example.test/a.mp4'), 'invalid_media_url'],
      ['another port', from('https://media.example.test:8443/a.mp4'), 'invalid_media_url'],
      ['user information', from('https://u:p@media.example.test/a.mp4'), 'invalid_media_url'],
      ['a private address', from('https://192.168.1.1/a.mp4'), 'invalid_media_url'],
      ['a mapped address', from('https://[::ffff:10.0.0.1]/a.mp4'), 'invalid_media_url'],
      ['a private webhook', render({ webhook_url: 'https://127.0.0.1/hook' }), 'invalid_webhook_url'],
      ['more than 64 KiB', () => `{"video":"${'x'.repeat(65_536)}"}`, 'body_too_large'],
    ])('with %s is refused', async (_, body, code) => {
      expect(await post('create_render', '/v1/renders', body())).toBe(code);
    });

    it('with different keys in header and body is refused', async () => {
      const body = JSON.stringify(request({ idempotency_key: 'a' }));
      const code = await post('create_render', '/v1/renders', body, { 'idempotency-key': 'b' });
      expect(code).toBe('idempotency_key_mismatch');
    });

    it('of another media type is refused', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect(await post('create_render', '/v1/renders', 'video=1', headers)).toBe('invalid_content_type');
    });

    it.each([
      ['257 MiB', { content_type: 'video/mp4', size_bytes: 257 * 1024 * 1024 }, 'invalid_request'],
      ['a type that is no media', { content_type: 'text/plain', size_bytes: 1 }, 'unsupported_content_type'],
    ])('for an upload of %s is refused', async (_, upload, code) => {
      const body = JSON.stringify({ media_type: 'video', ...upload });
      expect(await post('create_upload', '/v1/uploads', body)).toBe(code);
    });
  });

  describe('another customer’s id', () => {
    it('of any kind, anywhere, is refused in the same words as one that never existed', async () => {
      const { api, otherApi: foreign } = system;
      const unknown = (prefix: 'ren' | 'prp' | 'ast' | 'upl' | 'evt') => newId(prefix, 0, new Uint8Array(10));
      const render = await api.createRender(request({ webhook_url: system.receiver.url }));
      const { webhook_event_id: eventId = '' } = await api.cancelRender(render.id);
      const upload = await api.createUpload({
        media_type: 'audio',
        content_type: 'audio/wav',
        size_bytes: 9,
      });
      const preparation = await api.createPreparation({ video: { asset_id: video.id } });
      const own = {
        video: { asset_id: (await foreign.upload(SAMPLE_VIDEO, 'video', 'video/mp4')).id },
        audio: { asset_id: (await foreign.upload(SAMPLE_AUDIO, 'audio', 'audio/wav')).id },
      };
      const kinds = [
        [foreign.getRender, render.id, unknown('ren'), 'render_not_found'],
        [foreign.cancelRender, render.id, unknown('ren'), 'render_not_found'],
        [foreign.getPreparation, preparation.id, unknown('prp'), 'preparation_not_found'],
        [foreign.getAsset, video.id, unknown('ast'), 'asset_not_found'],
        [foreign.completeUpload, upload.id, unknown('upl'), 'upload_not_found'],
        [foreign.getWebhook, eventId, unknown('evt'), 'webhook_event_not_found'],
        [
          (id: string) => foreign.createRender(request({ ...own, video: { asset_id: id } })),
          ...([video.id, unknown('ast'), 'asset_not_found'] as const),
        ],
        [
          (id: string) => foreign.createRender(request({ ...own, audio: { asset_id: id } })),
          ...([audio.id, unknown('ast'), 'asset_not_found'] as const),
        ],
        [
          (id: string) => foreign.createRender(request({ ...own, preparation_id: id })),
          ...([preparation.id, unknown('prp'), 'preparation_not_found'] as const),
        ],
        [
          (id: string) => foreign.createPreparation({ video: { asset_id: id } }),
          ...([video.id, unknown('ast'), 'asset_not_found'] as const),
        ],
      ] as const;
      for (const [call, existing, missing, code] of kinds) {
        const refusal = await expectRefusal(call(existing), 404, code);
        expect(refusal).toEqual(await expectRefusal(call(missing), 404, code));
      }
    });
  });

  describe('an upload', () => {
    it('cannot be completed before its bytes are there, and completes once however often that is requested', async () => {
      const { api } = system;
      const bytes = Buffer.from('This is a letter, not a film.');
      const upload = await api.createUpload({
        media_type: 'video',
        content_type: 'video/mp4',
        size_bytes: bytes.length,
      });
      await expectRefusal(api.completeUpload(upload.id), 409, 'upload_incomplete');
      await expectRefusal(
        api.createRender(request({ video: { asset_id: upload.asset_id } })),
        409,
        'asset_not_ready',
      );

      const put = (body: Buffer) =>
        fetch(upload.upload_url, { method: 'PUT', headers: { 'content-type': 'video/mp4' }, body });
      expect((await put(Buffer.concat([bytes, bytes]))).ok).toBe(false);
      await expectRefusal(api.completeUpload(upload.id), 409, 'upload_incomplete');
      expect((await put(bytes)).ok).toBe(true);
      expect((await api.completeUpload(upload.id)).id).toBe(upload.asset_id);

      const asset = await awaitAsset(api, upload.asset_id);
      expect(asset).toMatchObject({ status: 'failed', error: { code: 'media_unsupported' } });
      expect(await api.completeUpload(upload.id)).toEqual(asset);
      await expectRefusal(
        api.createRender(request({ video: { asset_id: upload.asset_id } })),
        409,
        'asset_failed',
      );
    });
  });

  describe('media', () => {
    it.each([...BAD_FILES, ...BAD_REDIRECTS])(
      '%s fails with its own error code',
      async (_, path, __, code) => {
        const asset = await awaitAsset(system.api, fetched.get(path) ?? '');
        expect(asset).toMatchObject({ status: 'failed', stage: 'failed', error: { code } });
      },
    );

    it('never makes the service contact an address that it names', async () => {
      for (const id of fetched.values()) await awaitAsset(system.api, id);
      expect(origin.canaryRequests()).toBe(0);
      expect(origin.receiver.requests.filter(({ path }) => path === '/secret.mp4')).toEqual([]);
    });

    it('that fails also fails its render and its preparation, and both report it by webhook', async () => {
      const { api, receiver } = system;
      const bad = { video: { url: at('/text.mp4') }, webhook_url: receiver.url };
      const failure = { status: 'failed', stage: 'failed', error: { code: 'media_unsupported' } };
      const render = await api.createRender(request(bad));
      expect(await awaitRender(api, render.id)).toMatchObject({ ...failure, engines: [failure] });
      expect(await receiver.eventFor(render.id)).toMatchObject({ type: 'render.failed' });
      const preparation = await api.createPreparation(bad);
      expect(await awaitPreparation(api, preparation.id)).toMatchObject(failure);
      expect(await receiver.eventFor(preparation.id)).toMatchObject({ type: 'preparation.failed' });
      await expectRefusal(api.cancelRender(render.id), 409, 'render_not_cancellable');
    });

    it('without a face fails with no_face_detected, on the record and its engine, and cannot be cancelled then', async () => {
      const { api } = system;
      const faceless = await api.upload(files.canary, 'video', 'video/mp4');
      const failure = {
        status: 'failed',
        stage: 'failed',
        error: { code: 'no_face_detected', retryable: false },
      };
      const { id } = await api.createRender(request({ video: { asset_id: faceless.id } }));
      const preparation = await api.createPreparation({ video: { asset_id: faceless.id } });
      const render = await awaitRender(api, id);
      expect(render).toMatchObject({ ...failure, engines: [failure] });
      expect(render.progress_percent).toBeLessThan(100);
      await expectRefusal(api.cancelRender(id), 409, 'render_not_cancellable');
      expect(await awaitPreparation(api, preparation.id)).toMatchObject(failure);
      await expectRefusal(
        api.createRender(request({ preparation_id: preparation.id })),
        409,
        'preparation_failed',
      );
    });
  });

  it('a render cancelled in progress ends there, and its worker continues with the next', async () => {
    const { api } = system;
    const clip = `${files.folder}/short.mp4`;
    await ffmpeg(['-i', SAMPLE_VIDEO, '-t', '0.4', '-pix_fmt', 'yuv420p', clip]);
    const short = await api.upload(clip, 'video', 'video/mp4');
    const { id } = await api.createRender(request({ sync_mode: 'loop' }));
    await eventually(async () => expect((await api.getRender(id)).engines?.[0]?.stage).toBe('inferencing'), {
      deadlineMs: 60_000,
    });
    const cancelled = await api.cancelRender(id);
    expect(cancelled).toMatchObject({ status: 'cancelled', engines: [{ status: 'cancelled' }] });

    const next = await api.createRender(request({ video: { asset_id: short.id } }));
    expect(await awaitRender(api, next.id)).toMatchObject({ status: 'completed' });
    await expectRefusal(api.cancelRender(next.id), 409, 'render_not_cancellable');
    // The worker has long moved on, and nothing changed after the cancellation.
    expect(await api.getRender(id)).toEqual(cancelled);
    expect(await api.cancelRender(id)).toEqual(cancelled);
  });
});
