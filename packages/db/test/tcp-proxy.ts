import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';

/** Stands between a client and a server and can make both believe that the other one has gone silent. */
export interface TcpProxy {
  readonly port: number;
  /** From now on the present connections stay open and carry nothing; new ones work. */
  silence(): void;
  /** What a client says that contains `text` is answered with `bytes` in the server's place, and that is the end. */
  cutShort(text: string, bytes: Buffer): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const live = new Set<Socket>();
  const silenced = new WeakSet<Socket>();
  let cut: { text: string; bytes: Buffer } | undefined;
  const server = createServer((inbound) => {
    const outbound = connect(target.port, target.host);
    const ends = [inbound, outbound];
    const close = (): void => ends.forEach((end) => end.destroy());
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      live.add(from);
      from.on('data', (bytes) => {
        if (silenced.has(from)) return;
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        live.forEach((socket) => socket.destroy());
      }),
  };
}
