import { assertVettedPeer, dial, EgressError, isOwnFault } from './dial';
import { toEgressError } from './exchange';

it('a dial does not connect if the caller has given up meanwhile', async () => {
  const destination = { hostname: '127.0.0.1', addresses: ['127.0.0.1'], port: 1, routed: false };
  const signal = AbortSignal.abort(new EgressError('timeout'));
  await expect(dial(destination, { ca: undefined, signal })).rejects.toMatchObject({ reason: 'timeout' });
});

it.each([1, 2])(
  'a dial reports that the system refuses a connection at once, with %d addresses',
  async (count) => {
    // No system opens a stream to the broadcast address.
    const addresses = Array.from({ length: count }, () => '255.255.255.255');
    const destination = { hostname: 'media.example.test', addresses, port: 443, routed: false };
    const { signal } = new AbortController();
    await expect(dial(destination, { ca: undefined, signal })).rejects.toMatchObject({
      reason: 'connection_failed',
    });
  },
);

describe('the check after connecting', () => {
  it('accepts a vetted address, also in its mapped form', () => {
    expect(() => assertVettedPeer('93.184.215.14', ['93.184.215.14'])).not.toThrow();
    expect(() => assertVettedPeer('::ffff:93.184.215.14', ['93.184.215.14'])).not.toThrow();
  });

  it.each([undefined, '127.0.0.1', '::ffff:127.0.0.1', '::1'])('refuses the peer %s', (peer) => {
    expect(() => assertVettedPeer(peer, ['93.184.215.14'])).toThrow('address_not_allowed');
  });
});

const failing = (code: string): Error => Object.assign(new Error(code), { code });

it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('%s is our own fault and stays what it is', (code) => {
  const fault = failing(code);
  expect(isOwnFault(fault)).toBe(true);
  expect(toEgressError(fault)).toBe(fault);
});

it.each(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EPERM'])('%s is a failed connection', (code) => {
  const fault = failing(code);
  expect(toEgressError(fault)).toEqual(new EgressError('connection_failed', undefined, { cause: fault }));
});
