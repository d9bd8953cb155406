import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

interface RawAnswer {
  status: number;
  head: string;
  body: string;
}

/**
 * Writes bytes to a connection and reads until the server closes it, for requests that no client library would send.
 * Include `Connection: close`, or the server keeps the connection open.
 */
export async function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  const answer = await text(socket);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body };
}
