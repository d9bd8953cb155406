import { promises as dns } from 'node:dns';
import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { isPublicHost } from '@lipsync/domain';

/** Everything that decides where the client may connect. */
export interface EgressPolicy {
  allowedPorts: 'https-443' | 'any';
  resolve: ResolveAddresses;
  isAllowedAddress(address: string): boolean;
  routes: EgressRoutes;
  /** PEM of the CA of routed destinations. It is trusted there in place of the public ones, and nowhere else. */
  ca: string | undefined;
  /** Limit of name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
}

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

/** How long to wait for one address before the next one is tried in parallel. */
const ADDRESS_ATTEMPT_MS = 1_500;

/** Socket errors about reaching the host. All others that can occur here are about TLS. */
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EPERM',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EPIPE',
]);

/**
 * Opens a verified TLS connection to one of the vetted addresses and to nothing else. The socket's lookup answers from
 * the vetted list, so that a name that changes after vetting (DNS rebinding) is never resolved again.
 */
export async function dial(
  destination: Destination,
  options: { ca: string | undefined; signal: AbortSignal },
): Promise<TLSSocket> {
  const { hostname, addresses, port, routed } = destination;
  // Reject now if the caller gave up during name resolution: an earlier abort fires no event, and a peer that accepts
  // and stays silent would hold the socket for ever.
  options.signal.throwIfAborted();
  const settings: ConnectionOptions & TcpNetConnectOpts = {
    host: hostname,
    port,
    servername: isIP(hostname) === 0 ? hostname : '',
    lookup: answerFrom(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(routed && options.ca !== undefined ? { ca: options.ca } : {}),
  };
  const socket = connect(settings);
  try {
    await untilSecure(socket, options.signal);
    assertVettedPeer(socket.remoteAddress, addresses);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The last check: whatever the layers below did, the peer must be one of the vetted addresses. */
export function assertVettedPeer(peer: string | undefined, vetted: readonly string[]): void {
  const plain = plainAddress(peer);
  if (plain === undefined || !vetted.includes(plain)) throw new EgressError('address_not_allowed');
}

/** Normalizes an address to the form that a resolver returns: an IPv4 address mapped into IPv6 becomes plain. */
function plainAddress(peer: string | undefined): string | undefined {
  return peer?.replace(/^::ffff:(?=\d+\.)/i, '');
}

function answerFrom(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  // Not at once: if the system refuses the connection right then (no route, no descriptor), `connect` throws and the
  // socket's error finds no listener yet, which ends the process.
  return (_hostname, _options, callback) => process.nextTick(callback, null, answers);
}

function untilSecure(socket: TLSSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new EgressError('timeout'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    // Stays on the socket, so that an error after an abort does not become an uncaught exception.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', abort);
      const reason = NETWORK_ERRORS.has(error.code ?? '') ? 'connection_failed' : 'tls_error';
      reject(isOwnFault(error) ? error : new EgressError(reason, undefined, { cause: error }));
    });
  });
}

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
function assertLoopback(target: string): { address: string; port: number } {
  const match = /^(?:\[([0-9a-f:]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(target);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  const loopback = address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
  if (!loopback || !(port >= 1 && port <= 65_535))
    throw new Error('routes may lead to loopback addresses only');
  return { address, port };
}

/** All current addresses of a host name. Rejects with `dns_error` if there is none. */
type ResolveAddresses = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 1_500;
const QUERY_TRIES = 2;
/**
 * Retries and name servers multiply, up to nine seconds with two silent servers. This limit is shorter than that of
 * connecting, so that an unanswered name is distinguished from an unresponsive receiver, and long enough to ask two
 * servers once each.
 */
const TOTAL_MS = 3_500;

interface ResolverOptions {
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

/**
 * Why a request to a customer's URL failed. Deliberately coarse: what a customer sees must not reveal which internal
 * addresses or ports exist.
 */
export type EgressErrorReason =
  | 'dns_error'
  | 'connection_failed'
  | 'tls_error'
  | 'timeout'
  // Only for downloads: there was no connection or no first byte in time, or the bytes came below the rate floor.
  | 'no_answer'
  | 'too_slow'
  | 'address_not_allowed'
  | 'too_large'
  | 'redirect'
  | 'http_status';

/** Thrown for every failure caused by the other side, the network or the policy. */
export class EgressError extends Error {
  override readonly name = 'EgressError';

  constructor(
    readonly reason: EgressErrorReason,
    /** The HTTP status, if there was one (`http_status`, `redirect`). */
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(status === undefined ? reason : `${reason} (${status})`, options);
  }
}

/** Error codes of a socket that this process or machine had no means to open. */
const OWN_FAULTS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** Whether an error is our own fault, so that it must not count against the other side. */
export function isOwnFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OWN_FAULTS.has(error.code);
}
