import { REFUSED_URLS } from '../../testkit/src/hostile-input';
import { parseMediaUrl, parseWebhookUrl } from './customer-urls';
import { isServiceError } from './errors';

function codeOf(parse: () => URL): string {
  try {
    return parse().href;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    expect(error.message).toMatch(/^\/(video\/url|webhook_url) .*\.$/);
    return error.code;
  }
}

describe('the policy for URLs from customers', () => {
  it.each(REFUSED_URLS)('refuses %s for media and for webhooks', (url) => {
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

  it.each(['http://localhost:3000/hook', 'https://localhost:3000/hook', 'https://192.168.1.5/hook'])(
    'tells whoever has a receiver at %s what to do',
    (url) => {
      expect(() => parseWebhookUrl(url, '/webhook_url')).toThrow(
        /^\/webhook_url must .*\. Use a public https .* run lipsync webhook listen\.$/,
      );
    },
  );

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
