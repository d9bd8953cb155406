import { createHash, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { parseEgressRoutes } from '@lipsync/runtime';
import type { StackState } from './state';

/**
 * Merges the routes of a stack with those from `--egress-route`: a host has one route, the newest. Throws on a
 * malformed route, before anything is stored.
 */
export function mergeRoutes(known: readonly string[], given: readonly string[]): string[] {
  const all = [...known, ...given];
  const routes = all.length === 0 ? [] : parseEgressRoutes(all.join(','));
  return [...routes].map(([source, target]) => `${source}=${target}`);
}

/**
 * Merges the authorities of a stack with those from `--egress-ca`. Throws when it contains no certificate; a
 * self-signed server certificate is accepted, too.
 */
export function mergeAuthorities(known: string, given: string): string {
  // Node's TLS would ignore a broken one silently, and every routed destination would then fail.
  void new X509Certificate(given);
  return known.includes(given.trim()) ? known : `${known}${given.trim()}\n`;
}

/**
 * The authorities that services trust for routed destinations, and the file to read them from. Its name contains a
 * digest of its content: different authorities change the service's settings, so that it is restarted.
 */
export function authorityFile(root: string, state: Pick<StackState, 'authority' | 'egressCa'>) {
  const pem = `${state.authority.cert.trim()}\n${state.egressCa}`;
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 12);
  return { file: path.join(root, `egress-ca-${digest}.pem`), pem };
}
