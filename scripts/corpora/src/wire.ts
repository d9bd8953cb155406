import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '@lipsync/client';
import { treeResidentBytes } from '@lipsync/local-stack';
import { MALFORMED_REQUESTS, mutateBytes } from '@lipsync/testkit';
import { type CorpusResult, createTally, type TestBed } from './test-bed';

/** Longer than the service waits for a header or a body, and looks whether it still should. */
const CLOSE_DEADLINE_MS = 45_000;
/** The memory limit that the Helm chart gives the api. */
const MEMORY_LIMIT_MIB = 512;
const HEALTHY_EVERY_MS = 100;
const HEALTHY_DEADLINE_MS = 5_000;
const SLOW_CONNECTIONS = 200;
const IDLE_CONNECTIONS = 2_000;

/** The request that must not be seen behind another. */
const HIDDEN = 'hidden-request';

/** Bytes of one connection, and how many answers they may get at most. */
interface Exchange {
  bytes: string | Buffer;
  answers: number;
  /** Written one after the other, with a pause, instead of all at once. */
  slowly?: boolean;
  /** Do not close our side after the last byte: the service has to lose patience. */
  open?: boolean;
}

/** Bytes that put a request where another server may see a body, and connections that are not used as they should. */
function exchanges(head: string): Record<string, Exchange> {
  const get = `GET /v1/renders/x HTTP/1.1\r\n${head}\r\n`;
  const post = (fields: string, body: string) =>
    `POST /v1/uploads HTTP/1.1\r\n${head}${fields}\r\n\r\n${body}`;
  const hidden = `GET /v1/renders/x HTTP/1.1\r\nX-Request-Id: ${HIDDEN}\r\n${head}\r\n`;
  const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const one = (bytes: string | Buffer): Exchange => ({ bytes, answers: 1 });
  const body = (fields: string, content: string) => one(post(fields, content));
  return {
    ...Object.fromEntries(
      MALFORMED_REQUESTS.map(([name, bytes]) => [name, one(Buffer.from(bytes, 'latin1'))]),
    ),
    'a length before chunks': body(`Content-Length: 4\r\nTransfer-Encoding: chunked`, chunked),
    'chunks before a length': body(
      `Transfer-Encoding: chunked\r\nContent-Length: ${chunked.length}`,
      chunked,
    ),
    'an unknown coding': body('Transfer-Encoding: xchunked\r\nContent-Length: 3', `{} ${hidden}`),
    'chunks that are not last': body('Transfer-Encoding: chunked, identity', chunked),
    'chunks twice': body('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', chunked),
    'a coding behind a space': body('Transfer-Encoding : chunked', chunked),
    'a coding behind a tab': body('Transfer-Encoding:\tchunked\r\nContent-Length: 0', chunked),
    'a coding on a folded line': body('X: y\r\n Transfer-Encoding: chunked', chunked),
    'a bare line feed': body('X: y\nTransfer-Encoding: chunked\r\nContent-Length: 0', chunked),
    'a bare carriage return': body('X: y\rTransfer-Encoding: chunked\r\nContent-Length: 0', chunked),
    'a NUL in a field': body('X: \0y\r\nContent-Length: 0', hidden),
    ...Object.fromEntries(
      ['-1', '+2', '0x2', '2,2', '2 2', '1e1', '99999999999999999999', ''].map((length) => [
        `a length of "${length}"`,
        body(`Content-Length: ${length}`, `{}${hidden}`),
      ]),
    ),
    ...Object.fromEntries(
      ['-1', '0x2', '2 2', 'ffffffffffffffffff', `2;${'x'.repeat(40_000)}`, '2\n{}\n'].map((size) => [
        `a chunk of "${size.slice(0, 20)}"`,
        body('Transfer-Encoding: chunked', `${size}\r\n{}\r\n0\r\n\r\n`),
      ]),
    ),
    'endless trailers': body('Transfer-Encoding: chunked', `2\r\n{}\r\n0\r\n${'X: y\r\n'.repeat(10_000)}`),
    'a huge declared body': body('Content-Length: 9000000000000000', '{'),
    'a huge body': body('Content-Length: 20000000', 'x'.repeat(20_000_000)),
    'ten thousand fields': one(`GET / HTTP/1.1\r\n${'A: b\r\n'.repeat(10_000)}\r\n`),
    'a huge target': one(`GET /v1/${'x'.repeat(60_000)} HTTP/1.1\r\n${head}\r\n`),
    'a tunnel': one(`CONNECT 127.0.0.1:22 HTTP/1.1\r\n${head}\r\n`),
    'an upgrade to HTTP/2': one(get.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')),
    'a websocket': one(get.replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')),
    'the preface of HTTP/2': one('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'HTTP/0.9': one('GET /\r\n'),
    'HTTP/9.9': one('GET / HTTP/9.9\r\n\r\n'),
    'a request and half of another': { bytes: `${get}GET /v1`, answers: 2 },
    'our side closed behind a request': { bytes: get, answers: 1 },
    'our side closed within a body': { bytes: post('Content-Length: 9', '{}'), answers: 1 },
    'two hundred requests at once': { bytes: get.repeat(200), answers: 200 },
    'a header byte by byte': { bytes: get, answers: 1, slowly: true },
  };
}

/**
 * Sends what HTTP clients do not. Nothing but answers of the contract may come back, none to a request hidden in
 * another, and every connection must end; meanwhile another customer is answered, in bounded memory.
 */
export async function tryWire(bed: TestBed, seed: number, count: number): Promise<CorpusResult> {
  const { hostname, port } = new URL(bed.description.base_url);
  const open = (): Socket => connect(Number(port), hostname).on('error', () => undefined);
  const head = `Host: ${hostname}\r\nAuthorization: Bearer ${bed.attacker.api_key}\r\n`;
  const { result, count: countOutcome } = createTally();
  const named = exchanges(head);
  const healthy = watchHealthy(bed);

  async function tryOut(name: string, exchange: Exchange): Promise<void> {
    const { received, closed } = await exchangeOver(open(), exchange);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/g)].map(
      ([, status = '']) => status,
    );
    const outcome = statuses.length === 0 ? 'closed' : [...new Set(statuses)].join('+');
    countOutcome(outcome);
    const fail = (reason: string) =>
      result.violations.push(`${name}: ${reason}\n    ${received.slice(0, 300)}`);
    if (!closed) fail('the connection stayed open');
    // A client that does not send the rest may send it all again: here, 503 is the answer to that and to nothing else.
    if (statuses.some((status) => Number(status) >= 500) && exchange.open !== true)
      fail('a fault of the service');
    if (statuses.filter((status) => status !== '100').length > exchange.answers)
      fail('more answers than requests');
    if (received.includes(HIDDEN)) fail('a hidden request was answered');
    if (bed.secretsIn(received).length > 0) fail('the answer contains a secret');
  }

  const valid = Buffer.from(
    `POST /v1/assets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  );
  // A damaged line may end a request early and begin another.
  const mutated = Array.from({ length: count }, (_, i) => ({
    bytes: mutateBytes(valid, seed + i),
    answers: 3,
  }));
  await Promise.all(Object.entries(named).map(([name, exchange]) => tryOut(name, exchange)));
  for (let from = 0; from < mutated.length; from += 50)
    await Promise.all(
      mutated.slice(from, from + 50).map((exchange, i) => tryOut(`mutation ${from + i}`, exchange)),
    );

  const begun = [
    'GET / HTTP/1.1\r\nHost: ',
    `POST /v1/uploads HTTP/1.1\r\n${head}Content-Length: 9\r\n\r\n{`,
  ];
  const idle = Array.from({ length: IDLE_CONNECTIONS }, open);
  const unread = Array.from({ length: 20 }, () => {
    const socket = open();
    socket.write(`GET /openapi.json HTTP/1.1\r\n${head}\r\n`.repeat(500));
    return socket.pause();
  });
  const slow = Array.from({ length: SLOW_CONNECTIONS }, (_, i) => ({
    bytes: begun[i % 2] ?? '',
    answers: 1,
    open: true,
  }));
  await Promise.all(slow.map((exchange) => tryOut('a connection that says no more', exchange)));
  const { slowestMs, silent, peakBytes } = await healthy.stop();
  for (const socket of [...idle, ...unread]) socket.destroy();
  result.violations.push(...silent);
  const peakMib = Math.round(peakBytes / 2 ** 20);
  if (peakMib > MEMORY_LIMIT_MIB) result.violations.push(`the api took ${peakMib} MiB`);
  return { ...result, facts: { another_customer_waited_ms: slowestMs, api_peak_mib: peakMib } };
}

async function exchangeOver(socket: Socket, { bytes, slowly, open }: Exchange) {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
  if (slowly === true) {
    for (const byte of bytes.toString('latin1')) {
      socket.write(byte, 'latin1');
      await delay(2);
    }
  } else socket.write(bytes);
  if (open !== true) socket.end();
  const patience = new AbortController();
  const late = delay(CLOSE_DEADLINE_MS, false, { signal: patience.signal }).catch(() => false);
  const isClosed = await Promise.race([closed, late]);
  patience.abort();
  socket.destroy();
  return { received: Buffer.concat(chunks).toString('latin1'), closed: isClosed };
}

/** Another customer that goes on asking over a connection of its own, and the memory of the api meanwhile. */
function watchHealthy({ victim, stack }: TestBed) {
  const pid = stack.findPid('api') ?? 0;
  const silent: string[] = [];
  let slowestMs = 0;
  let peakBytes = 0;
  let goesOn = true;
  const watch = async () => {
    while (goesOn) {
      const startedAt = performance.now();
      await victim.api.renders.get('ren_unknown').catch((error: unknown) => {
        if (!(error instanceof ApiError && error.code === 'render_not_found'))
          silent.push(`another customer: ${String(error)}`);
      });
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - startedAt));
      peakBytes = Math.max(peakBytes, treeResidentBytes(pid));
      await delay(HEALTHY_EVERY_MS);
    }
    if (slowestMs > HEALTHY_DEADLINE_MS) silent.push(`another customer waited ${slowestMs} ms`);
  };
  const watching = watch();
  return {
    stop: async () => {
      goesOn = false;
      await watching;
      return { slowestMs, silent, peakBytes };
    },
  };
}
