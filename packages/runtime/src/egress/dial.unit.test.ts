import { assertVettedPeer, dial } from './dial';
import { EgressError } from './egress-error';

it('does not connect if the caller has given up meanwhile', async () => {
  const destination = { hostname: '127.0.0.1', addresses: ['127.0.0.1'], port: 1, routed: false };
  const signal = AbortSignal.abort(new EgressError('timeout'));
  await expect(dial(destination, { ca: undefined, signal })).rejects.toMatchObject({ reason: 'timeout' });
});

describe('the check after connecting', () => {
  it('accepts a vetted address, also in its mapped form', () => {
    expect(() => assertVettedPeer('93.184.215.14', ['93.184.215.14'])).not.toThrow();
    expect(() => assertVettedPeer('::ffff:93.184.215.14', ['93.184.215.14'])).not.toThrow();
  });

  it.each([undefined, '127.0.0.1', '::ffff:127.0.0.1', '::1'])('refuses the peer %s', (peer) => {
    expect(() => assertVettedPeer(peer, ['93.184.215.14'])).toThrow('address_not_allowed');
  });
});
