import { isIP } from 'node:net';
import { isPublicAddress } from './address-policy';

/** Suffixes of names that only have a meaning inside a host or a cluster. */
const INTERNAL_SUFFIXES = ['.local', '.internal', '.localhost', '.svc', '.cluster.local'];
const HOSTNAME_MAX_LENGTH = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns the host in lower case, without the trailing dot of an absolute name and without the brackets of IPv6. */
export function normalizeHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/**
 * Says whether a host, as taken from a parsed URL, can be on the public internet: a public literal address, or a name
 * of at least two labels outside the internal suffixes. The addresses that a name resolves to are checked again on
 * connecting.
 */
export function isPublicHost(hostname: string): boolean {
  const host = normalizeHost(hostname);
  if (isIP(host) !== 0) return isPublicAddress(host);
  const labels = host.split('.');
  return (
    host.length <= HOSTNAME_MAX_LENGTH &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !INTERNAL_SUFFIXES.some((suffix) => host.endsWith(suffix))
  );
}
