import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { listenOnLoopback } from '@lipsync/testkit';
import { ClientGone, readBody } from './read-body';

describe('readBody', () => {
  let server: Server;
  let port: number;
  let received: Promise<[IncomingMessage, ServerResponse]>;
  beforeEach(async () => {
    server = createServer();
    received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    port = await listenOnLoopback(server);
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('rejects for a caller that hung up while the request was still being authenticated', async () => {
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"part":');
    const [req, res] = await received;
    client.destroy();
    // Not `once` of node:events: it also listens for errors, which would change what is tested.
    await new Promise((resolve) => req.once('close', resolve));
    await expect(readBody(req, res, 1000)).rejects.toThrow(ClientGone);
  });

  it('rejects for a caller that hangs up in the middle of its body', async () => {
    const client = connect(port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"part":');
    const reading = readBody(...(await received), 1000);
    client.destroy();
    await expect(reading).rejects.toThrow(ClientGone);
  });

  it('disconnects a caller that goes on sending a body that was refused', async () => {
    const client = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => client.once('close', resolve));
    const send = (): void => {
      while (client.writable && client.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`));
    };
    client.on('error', () => undefined).on('drain', send);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    send();
    await expect(readBody(...(await received), 1000)).rejects.toMatchObject({ code: 'body_too_large' });
    await closed;
  });
});
