import { downloadFailureCode, downloadFailureDetail } from './download-failure';

describe('the error code of a failed download', () => {
  it.each([
    [401, 'media_not_accessible'],
    [403, 'media_not_accessible'],
    [404, 'media_not_accessible'],
    [410, 'media_not_accessible'],
    [204, 'media_not_accessible'],
    [408, 'media_download_failed'],
    [429, 'media_download_failed'],
    [500, 'media_download_failed'],
    [503, 'media_download_failed'],
  ])('status %d is %s', (status, code) => {
    expect(downloadFailureCode({ reason: 'http_status', status })).toBe(code);
  });

  it.each([
    ['dns_error', 'media_download_failed'],
    ['connection_failed', 'media_download_failed'],
    ['tls_error', 'media_download_failed'],
    ['timeout', 'media_download_failed'],
    ['no_answer', 'media_download_failed'],
    ['too_slow', 'media_download_failed'],
    ['address_not_allowed', 'media_url_not_allowed'],
    ['redirect', 'media_url_not_allowed'],
    ['too_large', 'media_too_large'],
  ] as const)('%s is %s', (reason, code) => {
    expect(downloadFailureCode({ reason })).toBe(code);
  });
});

it('names the limit that a download exceeded, and nothing about the network otherwise', () => {
  const limits = { total: 180, firstByte: 15 };
  expect(downloadFailureDetail({ reason: 'no_answer' }, limits)).toContain('15 to send the first byte');
  expect(downloadFailureDetail({ reason: 'too_slow' }, limits)).toContain('64 KiB per second for 15 seconds');
  expect(downloadFailureDetail({ reason: 'timeout' }, limits)).toContain('within 180 seconds');
  for (const reason of ['dns_error', 'connection_failed', 'tls_error'] as const)
    expect(downloadFailureDetail({ reason }, limits)).toBeUndefined();
});
