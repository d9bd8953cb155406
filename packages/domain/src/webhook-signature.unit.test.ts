import { signatureHeader, verifyWebhookSignature } from './webhook-signature';

const secretHex = '00ff10a5'.repeat(8);
const deliveryId = 'dlv_01k3v9m5e8q4x7r2t6w0y1z3ab';
const body = '{"id":"evt_1","text":"für dich"}';
const t = 1_767_225_600;
const header = signatureHeader(secretHex, t, deliveryId, body);
const genuine = { secretHex, header, deliveryId, body, nowSeconds: t };

describe('the signature of a webhook', () => {
  it('has a fixed value for a fixed input, as OpenSSL computes it', () => {
    expect(signatureHeader('0123456789abcdef', 1_700_000_000, 'dlv_1', '{}')).toBe(
      't=1700000000,v1=0aeda08c54d38a394eb2439273b8a12f0aa2d56aa4614225c8b4bdfda0ba1186',
    );
  });

  it('is the same for the text and for its UTF-8 bytes', () => {
    expect(signatureHeader(secretHex, t, deliveryId, Buffer.from(body))).toBe(header);
  });

  it('verifies up to five minutes in either direction, and not one second more', () => {
    expect(verifyWebhookSignature(genuine)).toBe(true);
    for (const seconds of [-300, 300])
      expect(verifyWebhookSignature({ ...genuine, nowSeconds: t + seconds })).toBe(true);
    for (const seconds of [-301, 301])
      expect(verifyWebhookSignature({ ...genuine, nowSeconds: t + seconds })).toBe(false);
  });

  it.each([
    ['another body', { body: `${body} ` }],
    ['another delivery', { deliveryId: `${deliveryId}x` }],
    ['another secret', { secretHex: 'ab'.repeat(32) }],
    ['another time under the same code', { header: header.replace(String(t), String(t + 1)) }],
    ['a changed code', { header: header.replace(/.$/, (last) => (last === '0' ? '1' : '0')) }],
    ['a shortened code', { header: header.slice(0, -2) }],
    ['no code', { header: `t=${t}` }],
    ['a second code', { header: `${header},v1=${'0'.repeat(64)}` }],
    ['an empty header', { header: '' }],
    ['a time that is none', { header: header.replace(String(t), '1e9') }],
  ])('does not verify with %s', (_, change) => {
    expect(verifyWebhookSignature({ ...genuine, ...change })).toBe(false);
  });

  it('is refused for a secret that is not hexadecimal, instead of using half of it', () => {
    for (const secret of ['', 'abc', 'zz', `${secretHex}zz`]) {
      expect(() => signatureHeader(secret, t, deliveryId, body)).toThrow(TypeError);
    }
  });
});
