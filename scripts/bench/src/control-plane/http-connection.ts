import { connect, type Socket } from 'node:net';

/** One kept-alive HTTP/1.1 connection with minimal overhead, which leaves the cores to the servers under test. */
interface HttpConnection {
  /** Sends the bytes of a whole request and resolves with the status once its response is complete. */
  exchange(request: Buffer): Promise<number>;
  close(): void;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Supports only responses with a Content-Length: both servers under test send no others. */
export async function openHttpConnection(port: number): Promise<HttpConnection> {
  const socket = await dial(port);
  let waiting: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined;
  let received: Buffer = Buffer.alloc(0);

  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = completeAnswer(received);
    if (answer === null) return;
    received = received.subarray(answer.bytes);
    waiting?.resolve(answer.status);
  });
  const fail = (error: Error): void => waiting?.reject(error);
  socket.on('error', fail).on('close', () => fail(new Error('the server closed a connection')));

  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => {
      waiting = undefined;
      socket.destroy();
    },
  };
}

function completeAnswer(bytes: Buffer): { status: number; bytes: number } | null {
  const head = bytes.indexOf(END_OF_HEAD);
  if (head === -1) return null;
  const text = bytes.toString('latin1', 0, head);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${text}`);
  const total = head + END_OF_HEAD.length + Number(length);
  return bytes.length < total ? null : { status: Number(text.slice(9, 12)), bytes: total };
}

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The bytes of a request, built once and sent many times. */
export function requestBytes(options: {
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: object;
}): Buffer {
  const body = options.body === undefined ? '' : JSON.stringify(options.body);
  const headers = {
    host: 'bench',
    ...options.headers,
    ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${options.method} ${options.path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}
