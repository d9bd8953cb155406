import { type IncomingMessage } from 'node:http';

/**
 * The address that a request comes from: of the peer, or as the proxies that are believed tell it. Each proxy appends
 * the address that it was asked from to X-Forwarded-For, so with n of them the client is the nth entry from the end;
 * what stands before that the client may have made up.
 */
export function clientAddress(req: IncomingMessage, trustedProxyHops: number): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  if (trustedProxyHops === 0) return peer;
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().flatMap((value) => value.split(','));
  const path = [peer, ...forwarded.map((entry) => entry.trim()).reverse()];
  return path[Math.min(trustedProxyHops, path.length - 1)] ?? peer;
}
