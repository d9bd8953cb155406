import { parseMediaUrl } from './media-url';
import { isServiceError } from './service-error';
import { parseWebhookUrl } from './webhook-url';

function codeOf(parse: () => URL): string {
  try {
    return parse().href;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    expect(error.message).toMatch(/^\/(video\/url|webhook_url) .*\.$/);
    return error.code;
  }
}

const refusedByBoth = [
  'http://media.example.com/a',
  'ftp://media.example.com/a',
  'file:///etc/passwd',
  'data:video/mp4,x',
  '//media.example.com/a',
  'media.example.com/a',
  'https://',
  'https:///media.example.com/a',
  'https:////media.example.com/a',
  'https://\\media.example.com/a',
  'https://\t/media.example.com/a',
  'https://user@media.example.com/',
  'https://user:password@media.example.com/',
  'https://:password@media.example.com/',
  'https://localhost/',
  'https://localhost./',
  'https://LOCALHOST/',
  'https://metadata/',
  'https://printer.local/',
  'https://printer.local./',
  'https://metadata.google.internal/',
  'https://METADATA.GOOGLE.INTERNAL/',
  'https://app.localhost/',
  'https://api.default.svc/',
  'https://api.default.svc.cluster.local/',
  'https://media.example.com../',
  'https://media..example.com/',
  'https://-media.example.com/',
  `https://${'a'.repeat(64)}.example.com/`,
  `https://${'a.'.repeat(130)}example.com/`,
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.0.1./',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://017700000001/',
  'https://１２７.0.0.1/',
  'https://127。0。0。1/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[fd00:ec2::254]/',
  'https://[64:ff9b::a00:1]/',
  `https://media.example.com/${'a'.repeat(8192)}`,
];

describe('the policy for URLs from customers', () => {
  it.each(refusedByBoth)('refuses %s for media and for webhooks', (url) => {
    expect(codeOf(() => parseMediaUrl(url, '/video/url'))).toBe('invalid_media_url');
    expect(codeOf(() => parseWebhookUrl(url, '/webhook_url'))).toBe('invalid_webhook_url');
  });

  it.each([
    ['https://media.example.com/a.mp4?x=1', 'https://media.example.com/a.mp4?x=1'],
    ['https://media.example.com:443/a', 'https://media.example.com/a'],
    ['https://media.example.com./a', 'https://media.example.com/a'],
    ['https://my_bucket.example.com/a', 'https://my_bucket.example.com/a'],
    ['https://münchen.example/a', 'https://xn--mnchen-3ya.example/a'],
    ['https://8.8.8.8/a', 'https://8.8.8.8/a'],
    ['https://[2606:4700:4700::1111]/a', 'https://[2606:4700:4700::1111]/a'],
    ['https://internal.example.com/a', 'https://internal.example.com/a'],
    ['https://media.example.test/a', 'https://media.example.test/a'],
  ])('accepts %s for both', (url, expected) => {
    expect(codeOf(() => parseMediaUrl(url, '/video/url'))).toBe(expected);
    expect(codeOf(() => parseWebhookUrl(url, '/webhook_url'))).toBe(expected);
  });

  it('accepts any port for webhooks and only 443 for media', () => {
    expect(codeOf(() => parseWebhookUrl('https://hooks.example.com:8443/x', '/webhook_url'))).toBe(
      'https://hooks.example.com:8443/x',
    );
    expect(codeOf(() => parseMediaUrl('https://media.example.com:8443/x', '/video/url'))).toBe(
      'invalid_media_url',
    );
    expect(codeOf(() => parseMediaUrl('https://media.example.com:80/x', '/video/url'))).toBe(
      'invalid_media_url',
    );
  });

  it('accepts 8192 characters and not one more', () => {
    const base = 'https://media.example.com/';
    const longest = base + 'a'.repeat(8192 - base.length);
    expect(codeOf(() => parseMediaUrl(longest, '/video/url'))).toBe(longest);
    expect(codeOf(() => parseMediaUrl(`${longest}a`, '/video/url'))).toBe('invalid_media_url');
  });
});
