import { validate } from '@lipsync/contract';
import { type UploadRow } from './rows';
import { uploadResource } from './upload-view';

const at = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-08T00:00:00.000Z');
const baseUrl = 'https://api.example.com';

describe('an upload', () => {
  const row: UploadRow = {
    createdAt: at,
    expiresAt: later,
    completedAt: null,
    purgedAt: null,
    id: 'upl_1',
    customerId: 'cus_1',
    assetId: 'ast_1',
    status: 'awaiting_upload',
    contentType: 'video/mp4',
    sizeBytes: 9,
    stagingKey: 'uploads/upl_1',
    etag: null,
  };
  const signed = {
    url: 'https://s3.example.com/x',
    headers: { 'Content-Type': 'video/mp4', 'Content-Length': '9' },
    expiresAt: later,
  };

  it('says where to PUT the bytes, with which headers, and where to complete it', () => {
    const upload = uploadResource(row, signed, { baseUrl });
    expect(validate('Upload', upload)).toEqual({ ok: true });
    expect(upload).toMatchObject({
      method: 'PUT',
      required_headers: signed.headers,
      complete_url: 'https://api.example.com/v1/uploads/upl_1/complete',
    });
    expect(JSON.stringify(upload)).not.toContain('stagingKey');
  });

  it.each([
    ['of the signature', { signedUntil: at, storedUntil: later }],
    ['of the record', { signedUntil: later, storedUntil: at }],
  ])('shows the expiry of %s if that comes first', (_, { signedUntil, storedUntil }) => {
    const upload = uploadResource(
      { ...row, expiresAt: storedUntil },
      { ...signed, expiresAt: signedUntil },
      { baseUrl },
    );
    expect(upload.expires_at).toBe(at.toISOString());
  });
});
