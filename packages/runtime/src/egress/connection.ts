import { type TLSSocket } from 'node:tls';
import { Client } from 'undici';
import { type Destination } from './destination';
import { dial, plainAddress } from './dial';
import { EgressError } from './egress-error';

/** A response header block larger than this is an attack on memory. */
const HEADER_BYTES_MAX = 16_384;
/** Shorter than servers keep idle connections (five seconds at the least): ours is the side that closes them. */
const IDLE_MS = 4_000;

/** A connection to a vetted address, and the client that speaks HTTP/1.1 over it and over no other. */
export interface Connection {
  readonly client: Client;
  readonly socket: TLSSocket;
  /** The address that it leads to. */
  readonly address: string;
  readonly openedAtMs: number;
  /** True when it has carried a request before. */
  isReused: boolean;
}

export async function openConnection(
  origin: string,
  destination: Destination,
  options: { ca: string | undefined; signal: AbortSignal },
): Promise<Connection> {
  const socket = await dial(destination, options);
  const client = new Client(origin, {
    connect: (_target, callback) =>
      // Later, not at once: undici does not resume its queue from within its own connect call.
      queueMicrotask(() =>
        // A destroyed socket means that the one connection was used up: there is no second one.
        socket.destroyed ? callback(new EgressError('connection_failed'), null) : callback(null, socket),
      ),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The caller's total deadline rules; undici's own timers would only add a second truth.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // `dial` has made sure that the peer is one of the vetted addresses.
  const address = plainAddress(socket.remoteAddress) ?? '';
  return { client, socket, address, openedAtMs: Date.now(), isReused: false };
}

export async function discard({ client, socket }: Connection): Promise<void> {
  await client.destroy();
  socket.destroy();
}
