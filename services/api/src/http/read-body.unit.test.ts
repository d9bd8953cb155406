import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { ClientGone } from './client-gone';
import { readBody } from './read-body';

describe('readBody', () => {
  let server: Server;
  let received: Promise<[IncomingMessage, ServerResponse]>;
  beforeEach(async () => {
    server = createServer();
    received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  it('ends for a caller that hung up while the request was still being authenticated', async () => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"part":');
    const [req, res] = await received;
    client.destroy();
    // Not `once` of node:events: by listening to errors as well it would change what is tested.
    await new Promise((resolve) => req.once('close', resolve));
    await expect(readBody(req, res, 1000)).rejects.toThrow(ClientGone);
  });
});
