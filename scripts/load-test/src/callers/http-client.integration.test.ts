import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '@lipsync/testkit';
import { createHttpClient, type HttpClient, type HttpRequest } from './http-client';

describe('createHttpClient', () => {
  let server: Server;
  let base: string;
  let client: HttpClient;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    respond = (_, response) => response.end('answer');
    server = createServer((request, response) => respond(request, response));
    base = `http://127.0.0.1:${await listenOnLoopback(server)}`;
    client = createHttpClient({ connections: 1, timeoutMs: 10_000 });
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (over: Partial<HttpRequest> = {}): HttpRequest => ({
    method: 'GET',
    url: `${base}/`,
    headers: {},
    repeatable: true,
    ...over,
  });

  it('keeps its connections, and makes further requests wait, which their sending times show', async () => {
    const sockets = new Set<unknown>();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = 0;
    let firstArrived: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      firstArrived = resolve;
    });
    respond = ({ socket }, response) => {
      sockets.add(socket);
      arrived++;
      firstArrived();
      void held.then(() => response.end());
    };
    const both = [client.send(get()), client.send(get())];
    await first;
    expect(arrived).toBe(1);
    release();
    const [one, two] = await Promise.all(both);
    expect(two?.sentAt).toBeGreaterThanOrEqual(one?.answeredAt ?? Infinity);
    expect(sockets.size).toBe(1);
  });

  it('says why there is no response', async () => {
    // Nobody listens there.
    const refused = await client.send(get({ url: 'http://127.0.0.1:1/' }));
    expect(refused).toMatchObject({ answer: null, transportError: 'ECONNREFUSED' });
    respond = ({ socket }) => void socket.resetAndDestroy();
    expect(await client.send(get())).toMatchObject({ answer: null, transportError: 'ECONNRESET' });
  });

  it('gives up after its timeout', async () => {
    const impatient = createHttpClient({ connections: 1, timeoutMs: 50 });
    respond = () => undefined;
    expect(await impatient.send(get())).toMatchObject({ answer: null, transportError: 'timeout' });
    respond = (_, response) => response.writeHead(200).write('half');
    expect(await impatient.send(get())).toMatchObject({ answer: null, transportError: 'timeout' });
    impatient.close();
  });

  describe('when a kept connection is closed as the request goes out', () => {
    let requests: number;
    beforeEach(async () => {
      requests = 0;
      respond = ({ socket }, response) => {
        requests++;
        if (requests === 2) socket.resetAndDestroy();
        else response.end();
      };
      await client.send(get());
    });

    it('resends it if that is safe', async () => {
      expect(await client.send(get())).toMatchObject({ answer: { status: 200 } });
      expect(requests).toBe(3);
    });

    it('counts it as lost otherwise', async () => {
      const lost = await client.send(get({ method: 'POST', repeatable: false }));
      expect(lost).toMatchObject({ answer: null, transportError: 'ECONNRESET' });
      expect(requests).toBe(2);
    });
  });
});
