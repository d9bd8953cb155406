import { isIP } from 'node:net';

/** Development only: maps `host:port` of a URL to the `ip:port` on loopback to connect to instead. */
export type EgressRoutes = ReadonlyMap<string, string>;

/**
 * Parses `host:port=ip:port,…`. A route exists to reach a local double of a public host, never to open up the private
 * network.
 * @throws Error on a malformed entry, or if a target is outside loopback
 */
export function parseEgressRoutes(text: string): Map<string, string> {
  const routes = new Map<string, string>();
  for (const entry of text.split(',')) {
    const [source = '', target = '', ...rest] = entry.trim().split('=');
    if (!/^[a-z0-9.-]+:\d{1,5}$/i.test(source) || rest.length > 0) {
      throw new Error('must be a comma-separated list of host:port=ip:port');
    }
    assertLoopback(target);
    routes.set(source.toLowerCase(), target);
  }
  return routes;
}

/**
 * The address and port of a route's target.
 * @throws Error if it is not a loopback address with a port
 */
export function assertLoopback(target: string): { address: string; port: number } {
  const match = /^(?:\[([0-9a-f:]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(target);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  const loopback = address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
  if (!loopback || !(port >= 1 && port <= 65_535))
    throw new Error('routes may lead to loopback addresses only');
  return { address, port };
}
