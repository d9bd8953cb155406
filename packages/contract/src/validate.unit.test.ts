import { openapiDocument } from './generated/document';
import { type RecordResource, type RenderRequest, type SchemaName } from './resources';
import { validate } from './validate';

const time = '2026-01-01T00:00:00.000Z';
const render: RenderRequest = {
  video: { url: 'https://media.example.com/a.mp4' },
  audio: { asset_id: 'ast_x' },
  engines: ['musetalk'],
  sync_mode: 'loop',
};
const upload = { media_type: 'video', content_type: 'video/mp4', size_bytes: 1 };
const asset = { url: 'https://media.example.com/a.mp4', media_type: 'audio' };
const engine = { engine: 'musetalk', status: 'accepted', stage: 'queued', progress_percent: 0, usage: {} };
const record: RecordResource = {
  id: 'ren_x',
  status: 'accepted',
  stage: 'queued',
  progress_percent: 0,
  video_asset_id: 'ast_x',
  created_at: time,
  updated_at: time,
  expires_at: time,
  status_url: 'https://api.example.com/v1/renders/ren_x',
};
const media = { size_bytes: 1, duration_seconds: 0, codec: 'unknown' };
const assetBody = {
  id: 'a',
  media_type: 'video',
  status: 'ready',
  stage: 'ready',
  media,
  created_at: time,
  expires_at: time,
};
const uploadBody = {
  id: 'u',
  asset_id: 'a',
  status: 'awaiting_upload',
  upload_url: 'https://s3.example.com/x',
  expires_at: time,
  method: 'PUT',
  required_headers: { 'Content-Type': 'video/mp4' },
  complete_url: 'https://api.example.com/v1/uploads/u/complete',
};
const event = { id: 'evt_x', type: 'render.completed', created_at: time, data: record };
const error = { code: 'x', message: 'X.', retryable: false };

type Case = readonly [schema: SchemaName, what: string, value: unknown];

const accepted: readonly Case[] = [
  ['RenderRequest', 'the least', render],
  [
    'RenderRequest',
    'every optional property',
    { ...render, preparation_id: 'p', webhook_url: 'https://a.b/c', idempotency_key: 'k' },
  ],
  ['RenderRequest', 'an empty idempotency key', { ...render, idempotency_key: '' }],
  ['RenderRequest', 'a key of 128 code points', { ...render, idempotency_key: '👄'.repeat(128) }],
  ['RenderRequest', 'a webhook on another port', { ...render, webhook_url: 'https://a.example.com:8443/x' }],
  ['PreparationRequest', 'the least', { video: { asset_id: 'ast_x' } }],
  ['UploadRequest', 'one byte', upload],
  ['UploadRequest', '256 MiB', { ...upload, size_bytes: 268_435_456 }],
  ['AssetRequest', 'the least', asset],
  ['Record', 'the least', record],
  ['Record', 'with an engine', { ...record, engines: [engine] }],
  ['Usage', 'nothing', {}],
  [
    'Usage',
    'the four nulls',
    {
      gpu_inference_seconds: null,
      billed_pod_seconds: null,
      estimated_compute_usd: null,
      observed_pod_seconds: null,
    },
  ],
  ['Asset', 'the least', assetBody],
  ['Upload', 'the least', uploadBody],
  ['Delivery', 'nothing', {}],
  ['WebhookEvent', 'the least', event],
  ['ErrorResponse', 'the least', { error }],
  ['Preparation', 'nothing', {}],
];

type RefusedCase = readonly [...Case, path: string, code?: string];

const video = (input: unknown): object => ({ ...render, video: input });

/** [schema, what, value, path of the violation, code]; the code defaults to invalid_request. */
const refused: readonly RefusedCase[] = [
  ...(['video', 'audio', 'engines', 'sync_mode'] as const).map((name): RefusedCase => [
    'RenderRequest',
    `without ${name}`,
    { ...render, [name]: undefined },
    `/${name}`,
  ]),
  ['RenderRequest', 'null', null, ''],
  ['RenderRequest', 'an unknown property', { ...render, quality: 1 }, '/quality'],
  ['RenderRequest', 'an unknown property to escape', { ...render, 'a/b~c': 1 }, '/a~1b~0c'],
  ['RenderRequest', 'both forms of input', video({ url: 'https://a.b/c', asset_id: 'a' }), '/video'],
  ['RenderRequest', 'no form of input', video({}), '/video'],
  ['RenderRequest', 'a string as input', video('https://a.b/c'), '/video'],
  ['RenderRequest', 'an unknown property of an input', video({ url: 'https://a.b/c', x: 1 }), '/video/x'],
  ['RenderRequest', 'a number as url', video({ url: 5 }), '/video/url'],
  ['RenderRequest', 'a null asset_id', video({ asset_id: null }), '/video/asset_id'],
  ['RenderRequest', 'an http url', video({ url: 'http://a.b/c' }), '/video/url', 'invalid_media_url'],
  [
    'RenderRequest',
    'a url with a space',
    video({ url: 'https://a.b/c d' }),
    '/video/url',
    'invalid_media_url',
  ],
  ['RenderRequest', 'an engine twice', { ...render, engines: ['musetalk', 'musetalk'] }, '/engines'],
  ['RenderRequest', 'an unknown engine', { ...render, engines: ['wav2lip'] }, '/engines/0'],
  ['RenderRequest', 'a null preparation_id', { ...render, preparation_id: null }, '/preparation_id'],
  ['RenderRequest', 'a number as webhook_url', { ...render, webhook_url: 1 }, '/webhook_url'],
  [
    'RenderRequest',
    'a key of 129 characters',
    { ...render, idempotency_key: 'k'.repeat(129) },
    '/idempotency_key',
    'invalid_idempotency_key',
  ],
  ['PreparationRequest', 'with audio', { video: { asset_id: 'a' }, audio: { asset_id: 'a' } }, '/audio'],
  ['UploadRequest', 'no byte', { ...upload, size_bytes: 0 }, '/size_bytes'],
  ['UploadRequest', 'a byte too many', { ...upload, size_bytes: 268_435_457 }, '/size_bytes'],
  ['UploadRequest', 'half a byte', { ...upload, size_bytes: 1.5 }, '/size_bytes'],
  ['UploadRequest', 'an idempotency key', { ...upload, idempotency_key: 'k' }, '/idempotency_key'],
  // A parser of URLs would take these for https://a.b/c: one rule for every address that a customer gives.
  ...['https:a.b/c', 'https:/a.b/c', 'HTTPS://a.b/c'].flatMap((url): RefusedCase[] => [
    ['RenderRequest', url, video({ url }), '/video/url', 'invalid_media_url'],
    ['RenderRequest', `to ${url}`, { ...render, webhook_url: url }, '/webhook_url', 'invalid_webhook_url'],
    ['PreparationRequest', url, { video: { url } }, '/video/url', 'invalid_media_url'],
    ['AssetRequest', url, { ...asset, url }, '/url', 'invalid_media_url'],
  ]),
  [
    'PreparationRequest',
    'a webhook_url that is none',
    { video: { asset_id: 'a' }, webhook_url: 'here' },
    '/webhook_url',
    'invalid_webhook_url',
  ],
  ['Record', 'progress above 100', { ...record, progress_percent: 100.1 }, '/progress_percent'],
  ['Record', 'a date that is none', { ...record, created_at: 'yesterday' }, '/created_at'],
  ['Record', 'a null error', { ...record, error: null }, '/error'],
  ['EngineResult', 'without usage', { ...engine, usage: undefined }, '/usage'],
  ['Usage', 'a null outside the four', { output_seconds: null }, '/output_seconds'],
  ['Preparation', 'a broken frame rate', { fps: 29.97 }, '/fps'],
  ['Upload', 'another method', { ...uploadBody, method: 'POST' }, '/method'],
  [
    'Upload',
    'a header that is a number',
    { ...uploadBody, required_headers: { 'Content-Length': 1 } },
    '/required_headers/Content-Length',
  ],
  ['WebhookEvent', 'preparation.cancelled', { ...event, type: 'preparation.cancelled' }, '/type'],
  ['Error', 'a detail', { ...error, detail: 'x' }, '/detail'],
];

/** The value as it arrives over the wire: without properties that are undefined. */
function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

describe('validate', () => {
  it.each(accepted)('accepts a %s: %s', (schema, _, value) => {
    expect(validate(schema, overTheWire(value))).toEqual({ ok: true });
  });

  const refusals = refused.map(([schema, what, value, path, code = 'invalid_request']) => {
    return { schema, what, value, path, code };
  });

  it.each(refusals)('refuses a $schema: $what', ({ schema, value, path, code }) => {
    expect(validate(schema, overTheWire(value))).toEqual({
      ok: false,
      code,
      path,
      reason: expect.any(String) as string,
    });
  });

  it.each(Object.keys(openapiDocument.components.schemas) as SchemaName[])(
    'compiles %s in strict mode',
    (schema) => {
      expect(validate(schema, Symbol('no JSON value'))).toMatchObject({ ok: false });
    },
  );

  it('says in words what is wrong', () => {
    const reason = (value: unknown) => ({ reason: '', ...validate('RenderRequest', value) }).reason;
    expect(reason({ ...render, quality: 1 })).toBe('is not a known property');
    expect(reason({ ...render, engines: ['x'] })).toBe('must be one of musetalk, latentsync, highsync');
    expect(reason({ ...render, video: {} })).toBe(
      'must be an object with exactly one property: asset_id or url',
    );
    expect(reason({ ...render, video: { url: 'https://a.b/my face.mp4' } })).toBe(
      'must be a valid URL, with spaces and non-ASCII characters percent-encoded',
    );
  });

  it('truncates long property names before it echoes them', () => {
    const result = validate('RenderRequest', { ...render, ['x'.repeat(5000)]: 1 });
    expect(JSON.stringify(result).length).toBeLessThan(200);
  });
});
