import { type Connection, discard } from './connection';
import { type Destination } from './destination';

/**
 * Connections for later requests. Each is kept for a few seconds, and reused only if its host's name still resolves to
 * its address, freshly vetted. This saves the handshake, not the check.
 */
export interface KeptConnections {
  take(destination: Destination): Connection | undefined;
  /** Takes back a connection whose response was read to its end. */
  keep(destination: Destination, connection: Connection): void;
  close(): void;
}

/** The maximum of connections that are used at once for one place. */
const PER_PLACE = 8;
const IN_ALL = 256;
/**
 * Maximum age of a connection. After it, a name that leads elsewhere by now is followed even if the old address still
 * answers.
 */
const AGE_MS = 60_000;

export function createKeptConnections(): KeptConnections {
  const places = new Map<string, Connection[]>();
  let kept = 0;

  function forget(place: string, connection: Connection): void {
    const connections = places.get(place) ?? [];
    const index = connections.indexOf(connection);
    if (index === -1) return;
    connections.splice(index, 1);
    kept -= 1;
    if (connections.length === 0) places.delete(place);
  }

  return {
    take: (destination) => {
      const place = placeOf(destination);
      const connection = places
        .get(place)
        ?.findLast(({ address, socket }) => destination.addresses.includes(address) && !socket.destroyed);
      if (connection === undefined) return undefined;
      forget(place, connection);
      connection.isReused = true;
      return connection;
    },
    keep: (destination, connection) => {
      const place = placeOf(destination);
      const connections = places.get(place) ?? [];
      const isOld = Date.now() - connection.openedAtMs > AGE_MS;
      if (isOld || connection.socket.destroyed || connections.length >= PER_PLACE || kept >= IN_ALL) {
        discard(connection);
        return;
      }
      connections.push(connection);
      places.set(place, connections);
      kept += 1;
      // The other side closed it, or it was idle for a while.
      if (!connection.isReused) connection.socket.once('close', () => forget(place, connection));
    },
    close: () => {
      [...places.values()].flat().forEach(discard);
    },
  };
}

/** The certificate was verified for this name, under the CA for this kind of destination. */
function placeOf({ hostname, port, routed }: Destination): string {
  return `${routed ? 'routed ' : ''}${hostname} ${port}`;
}
