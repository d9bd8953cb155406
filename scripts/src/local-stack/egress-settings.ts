import { createHash, X509Certificate } from 'node:crypto';
import path from 'node:path';
import { parseEgressRoutes } from '@lipsync/runtime';
import type { StackState } from './state';

/**
 * The routes of a stack after `--egress-route` was given: a host has one route, the newest.
 * Throws on a malformed one, before anything of it is kept.
 */
export function mergeRoutes(known: readonly string[], given: readonly string[]): string[] {
  const all = [...known, ...given];
  const routes = all.length === 0 ? [] : parseEgressRoutes(all.join(','));
  return [...routes].map(([source, target]) => `${source}=${target}`);
}

/**
 * The authorities of a stack after `--egress-ca` was given. Throws when it holds no certificate; a self-signed server
 * certificate is one, too.
 */
export function mergeAuthorities(known: string, given: string): string {
  // Node's TLS would ignore a broken one silently, and every routed destination would then fail.
  void new X509Certificate(given);
  return known.includes(given.trim()) ? known : `${known}${given.trim()}\n`;
}

/**
 * The authorities that services trust on routed destinations, and the file they read them from. It is named after its
 * content: a service that runs with other authorities is thereby seen to run with other settings, and restarted.
 */
export function authorityFile(root: string, state: Pick<StackState, 'authority' | 'egressCa'>) {
  const pem = `${state.authority.cert.trim()}\n${state.egressCa}`;
  const digest = createHash('sha256').update(pem).digest('hex').slice(0, 12);
  return { file: path.join(root, `egress-ca-${digest}.pem`), pem };
}
