import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';

/** Sits between a client and a server and can make each believe that the other has gone silent. */
export interface TcpProxy {
  readonly port: number;
  /** From now on the present connections stay open but carry nothing. New ones work. */
  silence(): void;
  /**
   * Answers the client's next message that contains `text` with `bytes` in place of the server, and closes the
   * connection.
   */
  cutShort(text: string, bytes: Buffer): void;
  /**
   * Resets the connection on the client's next message that contains `text`: before it reaches the server, or after the
   * server has processed it and answers.
   */
  reset(text: string, when: 'before' | 'answered'): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const live = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  let cut: { text: string; bytes: Buffer } | undefined;
  let toReset: { text: string; when: 'before' | 'answered' } | undefined;
  const unheard = new WeakSet<Socket>();
  const server = createServer((inbound) => {
    const outbound = connect(target.port, target.host);
    const ends = [inbound, outbound];
    const close = (): void => ends.forEach((end) => end.destroy());
    const reset = (): void => {
      inbound.resetAndDestroy();
      outbound.destroy();
    };
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      live.add(from);
      from.on('data', (bytes) => {
        if (silenced.has(from)) return;
        if (unheard.has(from)) return reset();
        if (toReset && from === inbound && bytes.includes(toReset.text)) {
          const { when } = toReset;
          toReset = undefined;
          if (when === 'before') return reset();
          unheard.add(outbound);
        }
        if (cut && from === inbound && bytes.includes(cut.text)) from.end(cut.bytes);
        else to.write(bytes);
      });
      from.on('error', close).on('close', () => {
        live.delete(from);
        close();
      });
    }
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    silence: () => live.forEach((socket) => silenced.add(socket)),
    cutShort: (text, bytes) => {
      cut = { text, bytes };
    },
    reset: (text, when) => {
      toReset = { text, when };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        live.forEach((socket) => socket.destroy());
      }),
  };
}
