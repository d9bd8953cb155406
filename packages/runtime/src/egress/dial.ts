import { isIP, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { type Destination } from './destination';
import { EgressError, isOwnFault } from './egress-error';

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

/** Normalises an address to the form that a resolver returns: an IPv4 address mapped into IPv6 becomes plain. */
export function plainAddress(peer: string | undefined): string | undefined {
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
