import { once } from 'node:events';
import { type RequestListener, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { validate } from '@lipsync/contract';
import { eventually, listenOnLoopback, MALFORMED_REQUESTS } from '@lipsync/testkit';
import { createDrain, createServer, type Drain, type ServerOptions } from './server';

/** Larger than all buffers on the way to a client together. */
const LARGE = Buffer.alloc(64 * 1024 * 1024);

describe('the HTTP server', () => {
  let server: Server | undefined;
  let drain: Drain;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function open(listener: RequestListener, options?: ServerOptions): Promise<Socket> {
    server = createServer(listener, options);
    drain = createDrain(server);
    const socket = connect(await listenOnLoopback(server), '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  const connections = (): Promise<number> =>
    new Promise((resolve) => server?.getConnections((_, count) => resolve(count)));

  const ok: RequestListener = (_req, res) => res.end('ok');

  it.each(MALFORMED_REQUESTS)(
    "answers %s with 400 in the contract's error format, and closes",
    async (_, bytes) => {
      const socket = await open(ok);
      socket.write(bytes, 'latin1');
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(head).toContain('Connection: close');
      expect(head).toMatch(/^X-Request-Id: [\w-]{36}\r?$/m);
      expect(head).toMatch(/^Cache-Control: no-store\r?$/m);
      expect(validate('ErrorResponse', JSON.parse(body))).toEqual({ ok: true });
    },
  );

  it.each([
    [
      'an expectation that nobody knows',
      'GET / HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n',
    ],
    ['HTTP/1.0, which knows no host', 'GET / HTTP/1.0\r\n\r\n'],
  ])('passes on a request with %s like any other', async (_, bytes) => {
    const socket = await open(ok);
    socket.write(bytes);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*ok$/);
  });

  it.each([
    ['in its first bytes', 'Transfer-Encoding: chunked\r\n\r\nno number\r\n', ''],
    ['after a while', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n', 'no number\r\n'],
  ])('answers a request with 400 whose body breaks %s', async (_, bytes, rest) => {
    const socket = await open((req) => req.on('data', () => socket.write(rest)));
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${bytes}`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*"invalid_request"/);
  });

  it('answers a request that is followed by more bytes than it declared, and then closes', async () => {
    const socket = await open((_req, res) => setImmediate(() => res.end('created')));
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}}');
    const answers = await text(socket);
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*created/);
    expect(answers).not.toContain('400');
  });

  describe('a client that keeps the server waiting', () => {
    /** Far above what the bytes that a client has sent take on a busy machine. */
    const impatient = { timeouts: { headersMs: 100, requestMs: 200, checkEveryMs: 10, keepAliveMs: 20 } };

    it('is left without an answer if it has sent nothing: its first request would take that answer for its own', async () => {
      const socket = await open(ok, impatient);
      expect(await text(socket)).toBe('');
    });

    it('is left without an answer if it has not begun another request', async () => {
      const socket = await open(ok, impatient);
      // Node would add a second to what it announces.
      Object.assign(server ?? {}, { keepAliveTimeoutBuffer: 0 });
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await text(socket)).match(/HTTP\/1\.1/g)).toHaveLength(1);
    });

    it.each([
      ['the headers', 'GET / HTTP/1.1\r\nHost:'],
      ['the body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{'],
    ])('for the rest of %s is told to send the request again', async (_, bytes) => {
      const socket = await open((req) => req.resume(), impatient);
      socket.write(bytes);
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
      expect(head).toContain('Connection: close');
      expect(head).toMatch(/^Retry-After: 5\r?$/m);
      expect(validate('ErrorResponse', JSON.parse(body))).toEqual({ ok: true });
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'service_unavailable', retryable: true } });
    });

    it('for the rest of a request that was refused already gets no second answer', async () => {
      const socket = await open(ok, impatient);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{');
      expect((await text(socket)).match(/HTTP\/1\.1/g)).toHaveLength(1);
    });
  });

  it('answers a client that has closed its side behind the request, however late', async () => {
    const socket = await open(
      (req, res) => void req.socket.once('end', () => setImmediate(() => res.end('ok'))),
    );
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*ok$/);
  });

  it('does not write a second status line into a response in progress', async () => {
    const socket = await open((_req, res) => void res.write('first half'));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    expect(await text(socket)).not.toContain('400 Bad Request');
  });

  it('answers bytes that are no HTTP with 400 also after a request that has got its answer', async () => {
    const socket = await open(ok);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.write('nonsense\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });

  it.each([
    ['headers are', 'nonsense\r\n\r\n'],
    ['body is', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n'],
  ])(
    'answers a request also if it is followed by one whose %s broken, and gives that one no answer',
    async (_, broken) => {
      const handled: (string | undefined)[] = [];
      const socket = await open((req, res) => {
        handled.push(req.url);
        setImmediate(() => res.end('created'));
      });
      socket.write(`POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}${broken}`);
      expect(await text(socket)).toMatch(
        /^HTTP\/1\.1 200 OK\r\n(?:(?!HTTP)[^])*Connection: close\r\n(?:(?!HTTP)[^])*created/,
      );
      expect(handled).toEqual(['/whole']);
    },
  );

  it('handles requests of one connection one after the other, so that a client that sends many and reads nothing holds one answer in memory', async () => {
    let handled = 0;
    const socket = await open((_req, res) => {
      handled += 1;
      res.end(LARGE);
    });
    socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
    await eventually(() => expect(handled).toBe(1));
    // What the first connection sent came in one piece: it is parsed before another connection is served.
    await fetch(`http://127.0.0.1:${socket.remotePort}/`).then((response) => response.arrayBuffer());
    expect(handled).toBe(2);
    socket.destroy();
  });

  it('answers requests that were sent together, in their order', async () => {
    const socket = await open((req, res) => void setImmediate(() => res.end(req.url)));
    const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    socket.write(get('/first') + get('/second') + get('/third', 'Connection: close\r\n'));
    expect(await text(socket)).toMatch(/\/first[^]*\/second[^]*\/third/);
  });

  it('closes a connection whose client has stopped reading the response', async () => {
    const socket = await open(
      (_req, res) => {
        res.once('close', () => server?.emit('test:closed'));
        res.end(LARGE);
      },
      { timeouts: { silenceMs: 50 } },
    );
    if (server === undefined) throw new Error('no server');
    const closed = once(server, 'test:closed');
    socket.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await closed).toEqual([]);
    socket.destroy();
  });

  it('refuses a connection beyond the limit, and serves those within it', async () => {
    const first = await open(ok, { connectionsMax: 1 });
    await eventually(async () => expect(await connections()).toBe(1));
    const second = connect(first.remotePort ?? 0, '127.0.0.1');
    expect(await text(second)).toBe('');
    first.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(first)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it.each([
    ['half a minute for its caller', false, 30],
    ['longer than any load balancer would, so that the balancer closes it first', true, 620],
  ])('keeps an idle connection for %s', async (_, isBehindProxy, seconds) => {
    const socket = await open(ok, { isBehindProxy });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain(`Keep-Alive: timeout=${seconds}\r\n`);
  });

  describe('drain', () => {
    it('lets a request in progress finish, then closes its connection even though the client would keep it', async () => {
      let answer = (): void => undefined;
      const socket = await open((_req, res) => {
        answer = () => res.end('done');
        server?.emit('test:received');
      });
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n');
      if (server === undefined) throw new Error('no server');
      await once(server, 'test:received');
      const drained = drain(new AbortController().signal);
      answer();
      expect(await text(socket)).toContain('done');
      await drained;
      expect(server.listening).toBe(false);
    });

    it('does not wait for a client that has only connected', async () => {
      const socket = await open(ok);
      await eventually(async () => expect(await connections()).toBe(1));
      const closed = once(socket, 'close');
      await drain(new AbortController().signal);
      await closed;
      expect(server?.listening).toBe(false);
    });

    it.each<[string, string, RequestListener]>([
      ['send the rest of its request', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1', ok],
      [
        'read an answer that is being written',
        'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
        (_req, res) => void res.write(LARGE, () => res.end()),
      ],
    ])(
      'waits for a client that does not %s until the last call, and no longer',
      async (_, bytes, listener) => {
        const socket = await open((req, res) => {
          listener(req, res);
          server?.emit('test:received');
        });
        if (server === undefined) throw new Error('no server');
        const received = once(server, 'test:received');
        socket.pause().write(bytes);
        await received;
        const lastCall = new AbortController();
        const drained = drain(lastCall.signal);
        expect(await connections()).toBe(1);
        lastCall.abort();
        await drained;
        expect(server.listening).toBe(false);
        socket.destroy();
      },
    );
  });
});
