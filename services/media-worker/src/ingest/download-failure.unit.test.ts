import { downloadFailureCode } from './download-failure';

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
    ['address_not_allowed', 'media_url_not_allowed'],
    ['redirect', 'media_url_not_allowed'],
    ['too_large', 'media_too_large'],
  ] as const)('%s is %s', (reason, code) => {
    expect(downloadFailureCode({ reason })).toBe(code);
  });
});
