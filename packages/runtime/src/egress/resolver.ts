import { promises as dns } from 'node:dns';
import { EgressError } from './egress-error';

/** All current addresses of a host name. Rejects with `dns_error` if there is none. */
export type ResolveAddresses = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;
/**
 * Retries and name servers multiply, up to nine seconds with two silent servers. This limit is shorter than that of
 * connecting, so that an unanswered name is distinguished from an unresponsive receiver, and long enough to ask two
 * servers once each.
 */
const TOTAL_MS = 3_500;

export interface ResolverOptions {
  /** `address` or `address:port`; by default the system's name servers. */
  servers?: readonly string[];
  totalMs?: number;
}

/**
 * Asks the name servers directly (c-ares). `dns.lookup` would use the four threads that file access shares, so slow
 * names chosen by customers could stall the process; it would also consult /etc/hosts and search domains.
 */
export function createResolver({ servers, totalMs = TOTAL_MS }: ResolverOptions = {}): ResolveAddresses {
  return async (hostname, signal) => {
    const resolver = new dns.Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    const timer = setTimeout(cancel, totalMs);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      // The trailing dot makes the name absolute, so that no search domain can turn it into an internal service.
      const absolute = hostname.endsWith('.') ? hostname : `${hostname}.`;
      const answers = await Promise.allSettled([resolver.resolve4(absolute), resolver.resolve6(absolute)]);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length === 0) {
        const cause: unknown = answers.find((answer) => answer.status === 'rejected')?.reason;
        throw new EgressError('dns_error', undefined, { cause });
      }
      return addresses;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  };
}
