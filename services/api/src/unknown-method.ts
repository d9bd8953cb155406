import { type Server } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The request line and the headers of a request, up to the empty line; its method is a token of RFC 9110 5.6.2. */
const HEAD = /^([!#$%&'*+.^_`|~\w-]{1,32})( \S+ HTTP\/1\.1\r\n[^]*?\r\n\r\n)/;
/** Any method that the parser knows and no path has. */
const STAND_IN = 'UNLINK';

/**
 * Passes on requests whose method Node's parser does not know. It gives up at the method, but whether that is a 401, a
 * 404 or a 405 depends on what follows. So the head is parsed once more, with another method, over a connection of its
 * own; the body is left out, because every path refuses the method before it reads one.
 */
export function createUnknownMethods(server: Server) {
  const methods = new WeakMap<Duplex, string>();
  const passedOn = new WeakSet<Duplex>();
  return {
    /** The method that was sent on a connection, if the parser did not know it. */
    methodOf: (connection: Duplex): string | undefined => methods.get(connection),
    /** Returns false if the error of the parser is another one, or if the head is not complete. */
    passOn(error: Error & { code?: string; rawPacket?: unknown }, socket: Duplex): boolean {
      // The parser fails again at each of the bytes that follow. The answer ends the connection.
      if (passedOn.has(socket)) return true;
      if (error.code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(error.rawPacket)) return false;
      const [, method, rest] = HEAD.exec(error.rawPacket.toString('latin1')) ?? [];
      if (method === undefined || rest === undefined) return false;
      const connection = new Duplex({
        read: () => undefined,
        write: (chunk, _encoding, done) => void socket.write(chunk, done),
        final: (done) => void socket.end(done),
        destroy: (failure, done) => {
          socket.destroy();
          done(failure);
        },
      });
      passedOn.add(socket);
      socket.once('close', () => connection.destroy());
      if (socket instanceof Socket)
        Object.defineProperty(connection, 'remoteAddress', { value: socket.remoteAddress });
      methods.set(connection, method);
      server.emit('connection', connection);
      connection.push(`${STAND_IN}${rest}`, 'latin1');
      return true;
    },
  };
}
