import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '@lipsync/local-stack';

export interface LoadFigures {
  per_second: number;
  p50_ms: number;
  p99_ms: number;
}

interface Load {
  port: number;
  seconds: number;
  /** The expected status. Figures over other responses would be worthless, so any other status ends the run. */
  status: number;
  next: (index: number) => Buffer;
}

/** Keeps `connections` requests in flight for a while, sending each as soon as the previous one is answered. */
export async function closedLoop(load: Load & { connections: number }): Promise<LoadFigures> {
  const open = await Promise.all(
    Array.from({ length: load.connections }, () => openHttpConnection(load.port)),
  );
  const latencies: number[] = [];
  let sent = 0;
  const startedAt = performance.now();
  const endsAt = startedAt + load.seconds * 1000;
  try {
    await Promise.all(
      open.map(async (connection) => {
        for (let now = performance.now(); now < endsAt;) {
          await exchange(connection, load, sent++);
          const then = now;
          now = performance.now();
          latencies.push(now - then);
        }
      }),
    );
  } finally {
    for (const connection of open) connection.close();
  }
  return figuresOf(latencies, startedAt);
}

/**
 * Sends requests at a constant rate, whatever becomes of the earlier ones. A latency counts from the moment at which the
 * request was due.
 */
export async function atRate(load: Load & { perSecond: number }): Promise<LoadFigures> {
  const open: HttpConnection[] = [];
  const idle: HttpConnection[] = [];
  const latencies: number[] = [];
  const startedAt = performance.now();
  const send = async (index: number, dueAt: number): Promise<void> => {
    const connection = idle.pop() ?? (await openHttpConnection(load.port));
    if (!open.includes(connection)) open.push(connection);
    await exchange(connection, load, index);
    latencies.push(performance.now() - dueAt);
    idle.push(connection);
  };
  try {
    const sent = [];
    for (let index = 0; index < load.perSecond * load.seconds; index += 1) {
      const dueAt = startedAt + (index * 1000) / load.perSecond;
      await delay(dueAt - performance.now());
      sent.push(send(index, dueAt));
    }
    await Promise.all(sent);
  } finally {
    for (const connection of open) connection.close();
  }
  return figuresOf(latencies, startedAt);
}

async function exchange(connection: HttpConnection, { status, next }: Load, index: number): Promise<void> {
  const answered = await connection.exchange(next(index));
  if (answered !== status) throw new Error(`answered ${answered} in place of ${status}`);
}

function figuresOf(latencies: readonly number[], startedAt: number): LoadFigures {
  return {
    per_second: (latencies.length / (performance.now() - startedAt)) * 1000,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
  };
}

/** One kept-alive HTTP/1.1 connection with minimal overhead, which leaves the cores to the servers under test. */
interface HttpConnection {
  /** Sends the bytes of a whole request and resolves with the status once its response is complete. */
  exchange(request: Buffer): Promise<number>;
  close(): void;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Supports only responses with a Content-Length: both servers under test send no others. */
async function openHttpConnection(port: number): Promise<HttpConnection> {
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
