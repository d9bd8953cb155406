import { createCertificateAuthority } from '@lipsync/testkit';
import { mergeAuthorities, mergeRoutes } from './services';

describe('mergeRoutes', () => {
  it('lets the newest route of a host win, even over repeated replacements', () => {
    const moved = mergeRoutes(['a.test:443=127.0.0.1:1'], ['a.test:443=127.0.0.1:2']);
    expect(moved).toEqual(['a.test:443=127.0.0.1:2']);
    expect(mergeRoutes(moved, ['a.test:443=127.0.0.1:1'])).toEqual(['a.test:443=127.0.0.1:1']);
  });

  it('keeps the routes of other hosts, and is empty without any', () => {
    expect(mergeRoutes(['a.test:443=127.0.0.1:1'], ['b.test:443=127.0.0.1:2'])).toHaveLength(2);
    expect(mergeRoutes([], [])).toEqual([]);
  });

  it('refuses a malformed route and one that leaves loopback', () => {
    expect(() => mergeRoutes([], ['nonsense'])).toThrow('host:port=ip:port');
    expect(() => mergeRoutes([], ['a.test:443=10.0.0.1:443'])).toThrow('loopback');
  });
});

describe('mergeAuthorities', () => {
  it('keeps each authority once, separated from the next', async () => {
    const [one, two] = [await createCertificateAuthority(), await createCertificateAuthority()];
    const both = mergeAuthorities(mergeAuthorities('', one.cert.trim()), two.cert.trim());
    expect(both.split('\n').filter((line) => line === '-----BEGIN CERTIFICATE-----')).toHaveLength(2);
    expect(mergeAuthorities(both, one.cert)).toBe(both);
  });

  it('refuses anything that is not a certificate', () => {
    expect(() => mergeAuthorities('', 'not a certificate')).toThrow();
  });
});
