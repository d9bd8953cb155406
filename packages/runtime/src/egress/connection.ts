import { Agent } from 'node:https';
import { type Duplex } from 'node:stream';
import { type TLSSocket } from 'node:tls';
import { type Destination } from './destination';
import { dial, plainAddress } from './dial';
import { EgressError } from './egress-error';

/** Shorter than servers keep idle connections (at least five seconds), so that our side closes them. */
const IDLE_MS = 4_000;

/** A connection to a vetted address, and the agent that sends requests over this connection only. */
export interface Connection {
  readonly agent: Agent;
  readonly socket: TLSSocket;
  /** The remote address. */
  readonly address: string;
  readonly openedAtMs: number;
  /** Whether it has carried a request before. */
  isReused: boolean;
}

export async function openConnection(
  destination: Destination,
  options: { ca: string | undefined; signal: AbortSignal; keepAlive: boolean },
): Promise<Connection> {
  const socket = await dial(destination, options);
  // `dial` has verified that the peer is one of the vetted addresses.
  const address = plainAddress(socket.remoteAddress) ?? '';
  const agent = new OneConnection(socket, options.keepAlive);
  return { agent, socket, address, openedAtMs: Date.now(), isReused: false };
}

export function discard({ agent, socket }: Connection): void {
  agent.destroy();
  socket.destroy();
}

/** An agent that never opens a second connection. */
class OneConnection extends Agent {
  private isGiven = false;

  constructor(
    private readonly socket: TLSSocket,
    keepAlive: boolean,
  ) {
    // The timeout applies to a connection that waits for its next request. During a request the caller's deadline
    // decides.
    super({ keepAlive, maxSockets: 1, timeout: IDLE_MS });
  }

  override createConnection(...[, callback]: Parameters<Agent['createConnection']>): Duplex | undefined {
    if (!this.isGiven && !this.socket.destroyed) {
      this.isGiven = true;
      return this.socket;
    }
    callback?.(new EgressError('connection_failed'), this.socket);
    return undefined;
  }
}
