import { isIP } from 'node:net';
import { isPublicHost } from '@lipsync/domain';
import { EgressError } from './egress-error';
import { type EgressPolicy } from './policy';
import { assertLoopback } from './routes';

/** Where a request may connect: the name for SNI and the certificate, and the vetted addresses. */
export interface Destination {
  hostname: string;
  addresses: readonly string[];
  port: number;
  /** True for a development route, the only case in which the development CA is trusted. */
  routed: boolean;
}

const HTTPS_PORT = 443;

/**
 * Decides where a URL may lead.
 * @throws EgressError address_not_allowed for anything but https without user information on an allowed port, for a
 * name that only has a meaning inside a host or a cluster (a redirect may lead to one), and if any of the host's
 * addresses is not public, because a name that mixes public and private addresses is an attack
 */
export async function resolveDestination(
  url: URL,
  policy: EgressPolicy,
  signal: AbortSignal,
): Promise<Destination> {
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') refuse();
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (policy.allowedPorts === 'https-443' && port !== HTTPS_PORT) refuse();

  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const route = policy.routes.get(`${hostname}:${port}`);
  if (route !== undefined) {
    const target = assertLoopback(route);
    return { hostname, addresses: [target.address], port: target.port, routed: true };
  }
  // A literal never reaches a resolver, so it is vetted here. An internal name must not reach one either.
  const isName = isIP(hostname) === 0;
  if (isName && !isPublicHost(hostname)) refuse();
  const addresses = isName ? await policy.resolve(hostname, signal) : [hostname];
  if (!addresses.every((address) => policy.isAllowedAddress(address))) refuse();
  return { hostname, addresses, port, routed: false };
}

function refuse(): never {
  throw new EgressError('address_not_allowed');
}
