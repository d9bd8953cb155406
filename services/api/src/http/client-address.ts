import { type IncomingMessage } from 'node:http';

/**
 * The address that a request comes from: the peer's, or the one reported by the trusted proxies. Each proxy appends its
 * peer's address to X-Forwarded-For, so with n proxies the client is the nth entry from the end; the client may have
 * forged any entry before that.
 */
export function clientAddress(req: IncomingMessage, trustedProxyHops: number): string {
  const peer = req.socket.remoteAddress ?? 'unknown';
  if (trustedProxyHops === 0) return peer;
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().flatMap((value) => value.split(','));
  const path = [peer, ...forwarded.map((entry) => entry.trim()).reverse()];
  return path[Math.min(trustedProxyHops, path.length - 1)] ?? peer;
}
