import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from '@lipsync/testkit';

/**
 * What a proxy does with connections:
 * - pass: nothing
 * - reset: ends all of them, and every new one, with a reset
 * - answers_lost: passes what the client sends, then resets the connection instead of passing the answer
 * - silence: keeps all open and passes nothing; what was sent arrives when the fault is over
 * - half_open: the server's side of all open ones is gone and the client is not told; new ones work
 * - slow: delays everything by a quarter of a second
 */
export type ProxyMode = 'pass' | 'reset' | 'answers_lost' | 'silence' | 'half_open' | 'slow';

export interface TcpProxy {
  readonly port: number;
  set(mode: ProxyMode): void;
  close(): Promise<void>;
}

const SLOW_MS = 250;

/** Listens on loopback and connects each client to the target, which may come and go. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let mode: ProxyMode = 'pass';
  let released = Promise.resolve();
  let release = (): void => undefined;
  const pairs = new Set<{ client: Socket; server: Socket }>();
  const clients = new Set<Socket>();

  const gate = (client: Socket, isAnswer: boolean): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const pass = async (): Promise<void> => {
          if (mode === 'slow') await delay(SLOW_MS);
          await released;
          if (mode === 'answers_lost' && isAnswer) client.resetAndDestroy();
          else done(null, chunk);
        };
        void pass();
      },
    });

  const accept = (client: Socket): void => {
    client.on('error', () => undefined);
    if (mode === 'reset') return void client.resetAndDestroy();
    const server = connect(targetPort, '127.0.0.1');
    const pair = { client, server };
    clients.add(client);
    pairs.add(pair);
    server.on('error', () => undefined);
    client.pipe(gate(client, false)).pipe(server);
    server.pipe(gate(client, true)).pipe(client);
    // A reset, or a target that is not there, is passed on as a reset; an orderly end went through the pipes.
    server.on('close', (failed) => (pairs.has(pair) && failed ? client.resetAndDestroy() : undefined));
    client.on('close', () => {
      clients.delete(client);
      pairs.delete(pair);
      server.destroy();
    });
  };
  const listener = createServer({ noDelay: true }, accept);
  const port = await listenOnLoopback(listener);

  const resetAll = (): void => clients.forEach((client) => client.resetAndDestroy());
  return {
    port,
    set: (next) => {
      mode = next;
      release();
      if (next === 'silence') released = new Promise((resolve) => (release = resolve));
      if (next === 'reset') resetAll();
      if (next === 'half_open')
        for (const pair of pairs) {
          pairs.delete(pair);
          pair.client.unpipe();
          pair.client.resume();
          pair.server.unpipe();
          pair.server.resetAndDestroy();
        }
    },
    close: async () => {
      release();
      listener.close();
      resetAll();
      await once(listener, 'close');
    },
  };
}
