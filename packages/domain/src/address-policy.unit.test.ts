import { isPublicAddress, networkOf } from './address-policy';

/** Addresses that known filters let through, or that lead into a network that is not public. */
const REFUSED = [
  // IPv4: this host, private, shared, link-local with the clouds' metadata, Azure's and Oracle's endpoints.
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.254',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.0.1',
  '192.168.255.255',
  // IPv4: documentation, relays, benchmarking, multicast, reserved, broadcast.
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  // IPv6: unspecified, loopback, unique local with AWS's metadata, link-local, site-local, multicast.
  '::',
  '::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  // IPv6 that carries an IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo.
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '::7f00:1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::a00:1',
  '64:ff9b:1::1',
  '2002:7f00:1::1',
  '2001:0:7f00:1::1',
  // IPv6: benchmarking, ORCHID, documentation, discard, segment routing, never assigned.
  '2001:2::1',
  '2001:20::1',
  '2001:db8::1',
  '3fff::1',
  '100::1',
  '5f00::1',
  '4000::1',
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
];

/** Forms that a resolver never returns, but that a URL or a person may contain. */
const MALFORMED = [
  '',
  'localhost',
  '127.1',
  '0x7f.0.0.1',
  '010.0.0.1',
  '2130706433',
  '1.1.1.1.',
  ' 1.1.1.1',
  '1.1.1.1/32',
  '[2606::1]',
  '2606:4700::1%eth0',
];

describe('isPublicAddress', () => {
  it('covers 51 addresses that must not be reached', () => {
    expect(new Set(REFUSED).size).toBe(51);
  });

  it.each(REFUSED)('refuses %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each(PUBLIC)('allows %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  it.each(MALFORMED)('refuses %j, which is not a plain address', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each([
    ['9.255.255.255', '10.0.0.0'],
    ['11.0.0.0', '10.255.255.255'],
    ['100.63.255.255', '100.64.0.0'],
    ['126.255.255.255', '127.0.0.0'],
    ['168.63.129.15', '168.63.129.16'],
    ['168.63.129.17', '168.63.129.16'],
    ['172.15.255.255', '172.16.0.0'],
    ['198.17.255.255', '198.18.0.0'],
    ['198.20.0.0', '198.19.255.255'],
    ['223.255.255.255', '224.0.0.0'],
    ['2001:200::', '2001:1ff:ffff::'],
    ['2003::', '2002:ffff::'],
    ['3ffe::', '3fff:fff::'],
    ['2620:4f:7fff::', '2620:4f:8000::'],
  ])('places the boundary between %s and %s', (allowed, refused) => {
    expect([isPublicAddress(allowed), isPublicAddress(refused)]).toEqual([true, false]);
  });
});

describe('networkOf', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
