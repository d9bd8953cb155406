import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { assertVettedPeer, createResolver, dial, EgressError, isOwnFault } from './dial';
import { toEgressError } from './exchange';

it('a dial does not connect if the caller has given up meanwhile', async () => {
  const destination = { hostname: '127.0.0.1', addresses: ['127.0.0.1'], port: 1, routed: false };
  const signal = AbortSignal.abort(new EgressError('timeout'));
  await expect(dial(destination, { ca: undefined, signal })).rejects.toMatchObject({ reason: 'timeout' });
});

it.each([1, 2])(
  'a dial reports that the system refuses a connection at once, with %d addresses',
  async (count) => {
    // No system opens a stream to the broadcast address.
    const addresses = Array.from({ length: count }, () => '255.255.255.255');
    const destination = { hostname: 'media.example.test', addresses, port: 443, routed: false };
    const { signal } = new AbortController();
    await expect(dial(destination, { ca: undefined, signal })).rejects.toMatchObject({
      reason: 'connection_failed',
    });
  },
);

describe('the check after connecting', () => {
  it('accepts a vetted address, also in its mapped form', () => {
    expect(() => assertVettedPeer('93.184.215.14', ['93.184.215.14'])).not.toThrow();
    expect(() => assertVettedPeer('::ffff:93.184.215.14', ['93.184.215.14'])).not.toThrow();
  });

  it.each([undefined, '127.0.0.1', '::ffff:127.0.0.1', '::1'])('refuses the peer %s', (peer) => {
    expect(() => assertVettedPeer(peer, ['93.184.215.14'])).toThrow('address_not_allowed');
  });
});

const failing = (code: string): Error => Object.assign(new Error(code), { code });

it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])('%s is our own fault and stays what it is', (code) => {
  const fault = failing(code);
  expect(isOwnFault(fault)).toBe(true);
  expect(toEgressError(fault)).toBe(fault);
});

it.each(['ECONNREFUSED', 'EADDRNOTAVAIL', 'EPERM'])('%s is a failed connection', (code) => {
  const fault = failing(code);
  expect(toEgressError(fault)).toEqual(new EgressError('connection_failed', undefined, { cause: fault }));
});

const A = 1;
const NO_SUCH_NAME = 3;

/** A response with its header, the question (which ends the query, apart from extensions) and the records. */
function answerTo(query: Buffer, records: readonly Buffer[], code = 0): Buffer {
  const endOfQuestion = query.indexOf(0, 12) + 5;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  for (const [index, count] of [1, records.length, 0, 0].entries())
    header.writeUInt16BE(count, 4 + 2 * index);
  return Buffer.concat([header, query.subarray(12, endOfQuestion), ...records]);
}

/** A record for the queried name, valid for a minute. */
function record(type: number, data: readonly number[]): Buffer {
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
}

function typeOf(query: Buffer): number {
  return query.readUInt16BE(query.indexOf(0, 12) + 1);
}

function nameOf(query: Buffer): string {
  const labels = [];
  for (let at = 12; query.readUInt8(at) > 0; at += query.readUInt8(at) + 1)
    labels.push(query.toString('latin1', at + 1, at + 1 + query.readUInt8(at)));
  return labels.join('.');
}

describe('createResolver', () => {
  let server: Socket;
  let asked: string[];
  let reply: (query: Buffer) => Buffer | null;
  beforeEach(async () => {
    asked = [];
    server = createSocket('udp4').on('message', (query, { port, address }) => {
      asked.push(nameOf(query));
      const answer = reply(query);
      if (answer) server.send(answer, port, address);
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => new Promise<void>((resolve) => server.close(resolve)));

  const resolve = (options: { signal?: AbortSignal; totalMs?: number } = {}): Promise<readonly string[]> => {
    const { signal = new AbortController().signal, totalMs = 60_000 } = options;
    const servers = [`127.0.0.1:${server.address().port}`];
    return createResolver({ servers, totalMs })('hooks.example.test', signal);
  };

  it('finds the addresses of both families, of exactly the given name', async () => {
    reply = (query) =>
      answerTo(query, [
        typeOf(query) === A
          ? record(A, [93, 184, 215, 14])
          : record(28, [0x26, 6, ...new Array<number>(13).fill(0), 1]),
      ]);
    expect([...(await resolve())].sort()).toEqual(['2606::1', '93.184.215.14']);
    expect(new Set(asked)).toEqual(new Set(['hooks.example.test']));
  });

  it('finds the addresses of one family if the other has none', async () => {
    reply = (query) => answerTo(query, typeOf(query) === A ? [record(A, [93, 184, 215, 14])] : []);
    expect(await resolve()).toEqual(['93.184.215.14']);
  });

  it('reports an unknown name as such', async () => {
    reply = (query) => answerTo(query, [], NO_SUCH_NAME);
    await expect(resolve()).rejects.toMatchObject({ reason: 'dns_error', cause: { code: 'ENOTFOUND' } });
  });

  it('reports a DNS error if no server answers in time, without waiting for all retries', async () => {
    reply = () => null;
    await expect(resolve({ totalMs: 50 })).rejects.toMatchObject({ reason: 'dns_error' });
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  it('stops when the caller gives up', async () => {
    const abort = new AbortController();
    reply = () => {
      abort.abort();
      return null;
    };
    await expect(resolve({ signal: abort.signal, totalMs: 600_000 })).rejects.toMatchObject({
      reason: 'dns_error',
    });
  });
});
