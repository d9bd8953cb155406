import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface RawAnswer {
  status: number;
  head: string;
  body: string;
  /** The body as it was sent, perhaps compressed. */
  bytes: Buffer;
}

/**
 * Writes bytes to a connection and reads until the server closes it, for requests that no client library would send.
 * Include `Connection: close`, or the server keeps the connection open.
 */
export async function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  const answer = await buffer(socket);
  const end = answer.indexOf('\r\n\r\n');
  const head = answer.toString('latin1', 0, end === -1 ? undefined : end);
  const body = end === -1 ? Buffer.alloc(0) : answer.subarray(end + 4);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: body.toString(), bytes: body };
}
