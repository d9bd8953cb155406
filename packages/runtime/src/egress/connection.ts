import { Agent } from 'node:https';
import { type Duplex } from 'node:stream';
import { type TLSSocket } from 'node:tls';
import { type Destination } from './destination';
import { dial, plainAddress } from './dial';
import { EgressError } from './egress-error';

/** Shorter than servers keep idle connections (five seconds at the least): ours is the side that closes them. */
const IDLE_MS = 4_000;

/** A connection to a vetted address, and the agent that sends requests over it and over no other. */
export interface Connection {
  readonly agent: Agent;
  readonly socket: TLSSocket;
  /** The address that it leads to. */
  readonly address: string;
  readonly openedAtMs: number;
  /** True when it has carried a request before. */
  isReused: boolean;
}

export async function openConnection(
  destination: Destination,
  options: { ca: string | undefined; signal: AbortSignal; keepAlive: boolean },
): Promise<Connection> {
  const socket = await dial(destination, options);
  // `dial` has made sure that the peer is one of the vetted addresses.
  const address = plainAddress(socket.remoteAddress) ?? '';
  const agent = new OneConnection(socket, options.keepAlive);
  return { agent, socket, address, openedAtMs: Date.now(), isReused: false };
}

export function discard({ agent, socket }: Connection): void {
  agent.destroy();
  socket.destroy();
}

/** When its one connection is used up there is no second one. */
class OneConnection extends Agent {
  private isGiven = false;

  constructor(
    private readonly socket: TLSSocket,
    keepAlive: boolean,
  ) {
    // The time-out is for a connection that waits for its next request; of one under way the caller's deadline decides.
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
