import { type SchemaName, validate } from '@lipsync/contract';
import { assetResource } from './asset-view';
import { type AssetRow } from './rows';
import { errorBody } from './service-error';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');

const assetRow: AssetRow = {
  createdAt: at,
  updatedAt: at,
  expiresAt: later,
  purgedAt: null,
  id: 'ast_1',
  customerId: 'cus_1',
  mediaType: 'video',
  status: 'pending',
  stage: 'queued',
  sourceUrl: 'https://media.example.com/secret-token',
  contentType: null,
  objectKey: null,
  sha256: null,
  sizeBytes: 0,
  durationSeconds: 0,
  codec: 'unknown',
  width: null,
  height: null,
  frames: null,
  fps: null,
  errorCode: null,
  errorDetail: null,
};

function expectValid(schema: SchemaName, value: unknown): void {
  expect(validate(schema, JSON.parse(JSON.stringify(value)))).toEqual({ ok: true });
}

describe('an asset', () => {
  it('has placeholders for its media until it is probed, and never shows where it came from', () => {
    const asset = assetResource(assetRow);
    expectValid('Asset', asset);
    expect(asset.media).toEqual({ size_bytes: 0, duration_seconds: 0, codec: 'unknown' });
    expect(JSON.stringify(asset)).not.toContain('secret-token');
  });

  it('shows its measures when ready and its error when failed', () => {
    const measures = {
      sizeBytes: 9,
      durationSeconds: 4,
      codec: 'h264',
      width: 640,
      height: 360,
      frames: 120,
      fps: 29.97,
    };
    const ready = assetResource({
      ...assetRow,
      ...measures,
      status: 'ready',
      stage: 'ready',
      contentType: 'video/mp4',
    });
    expectValid('Asset', ready);
    expect(ready.media).toEqual({
      size_bytes: 9,
      duration_seconds: 4,
      codec: 'h264',
      width: 640,
      height: 360,
      frames: 120,
      fps: 29.97,
    });
    const failed = assetResource({
      ...assetRow,
      status: 'failed',
      stage: 'failed',
      errorCode: 'media_too_long',
    });
    expectValid('Asset', failed);
    expect(failed.error?.code).toBe('media_too_long');
  });

  it('shows the detail that is stored with a code, and nothing of a code that this version does not know', () => {
    const errorDetail = 'The video lasts 301.0 seconds: too long.';
    const shown = (errorCode: string) =>
      assetResource({ ...assetRow, status: 'failed', errorCode, errorDetail }).error;
    expect(shown('media_too_long')).toEqual({
      code: 'media_too_long',
      message: errorDetail,
      retryable: false,
    });
    expect(shown('unheard_of')).toEqual(errorBody('internal_error'));
  });
});
