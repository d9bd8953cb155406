import { REFUSED_ADDRESSES } from '../../testkit/src/hostile-input';
import { isPublicAddress, networkOf } from './address-policy';

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
  it.each(REFUSED_ADDRESSES)('refuses %s', (ip) => {
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
