import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';
import { startTcpProxy, type TcpProxy } from './tcp-proxy';

describe('a proxy that makes faults', () => {
  let server: Server;
  let proxy: TcpProxy;
  /** What the server was sent; it sends everything back. */
  let received: string;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    received = '';
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => (received += chunk.toString()));
      socket.pipe(socket);
    });
    proxy = await startTcpProxy(await listenOnLoopback(server));
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await proxy.close();
    server.close();
  });

  function open(): Socket {
    const client = connect(proxy.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(client);
    return client;
  }

  /** A connection over which something has gone to and fro. */
  async function connected(): Promise<Socket> {
    const client = open();
    client.write('hello');
    expect(String(await once(client, 'data'))).toBe('hello');
    return client;
  }
  const failureOf = async (client: Socket): Promise<unknown> =>
    (await once(client, 'error').catch((error: unknown) => [error]))[0];

  it('resets what is open and what comes', async () => {
    const client = await connected();
    const failure = failureOf(client);
    proxy.set('reset');
    expect(await failure).toMatchObject({ code: 'ECONNRESET' });
    expect(await failureOf(open())).toMatchObject({ code: 'ECONNRESET' });
  });

  it('loses an answer, but not the request', async () => {
    const client = await connected();
    proxy.set('answers_lost');
    client.write(' commit');
    expect(await failureOf(client)).toMatchObject({ code: 'ECONNRESET' });
    expect(received).toBe('hello commit');
  });

  it('holds everything back in silence, and passes it on afterwards', async () => {
    const client = await connected();
    proxy.set('silence');
    client.write(' again');
    await once(open(), 'connect');
    expect(received).toBe('hello');
    proxy.set('pass');
    expect(String(await once(client, 'data'))).toBe(' again');
  });

  it('leaves the client of a half-open connection in the dark, and serves new ones', async () => {
    const client = await connected();
    proxy.set('half_open');
    client.write(' lost');
    await connected();
    expect(received).toBe('hellohello');
    expect(client.readyState).toBe('open');
  });
});
