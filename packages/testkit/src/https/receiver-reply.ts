import { once } from 'node:events';
import { type ServerResponse } from 'node:http';
import { type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What a scripted receiver does with a request. */
export type ReceiverReply =
  | {
      status: number;
      headers?: Readonly<Record<string, string>>;
      body?: string | Uint8Array | (() => Readable);
    }
  /** Reads the request and never replies. */
  | 'hang'
  /** Reads the request and resets the connection. */
  | 'reset'
  /** Status 200 and headers, then one byte every 50 ms for ever. */
  | 'drip'
  /** Status 200, then bytes as fast as the client accepts them, for ever. */
  | 'endless';

const DRIP_INTERVAL_MS = 50;
const BLOCK = Buffer.alloc(64 * 1024);

/** Sends one reply. Returns when it is complete or the client has gone. */
export async function sendReply(reply: ReceiverReply, response: ServerResponse): Promise<void> {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply === 'drip') return drip(response);
  if (reply === 'endless') return endless(response);
  response.writeHead(reply.status, reply.headers);
  if (typeof reply.body === 'function') await pipeline(reply.body(), response).catch(() => undefined);
  else response.end(reply.body);
}

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), DRIP_INTERVAL_MS);
  response.once('close', () => clearInterval(timer));
}

async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200);
  const closed = once(response, 'close');
  while (!response.destroyed) {
    if (!response.write(BLOCK)) await Promise.race([once(response, 'drain'), closed]);
  }
}
