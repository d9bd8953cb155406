import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { type ErrorCode } from '@lipsync/contract';
import { SAMPLE_AUDIO } from '@lipsync/local-stack';
import {
  createCertificateAuthority,
  eventually,
  listenOnLoopback,
  type ReceiverReply,
  startHttpsReceiver,
} from '@lipsync/testkit';
import { type Caller, type CorpusResult, createTally, endOf, type TestBed } from './test-bed';

export const MEDIA_HOST = 'media.example.test';

const REDIRECT = '/redirect/';
/** The path of the media origin that redirects there. */
export const redirectTo = (location: string): string => `${REDIRECT}${encodeURIComponent(location)}`;

/** Hosts whose trouble begins before HTTP. */
const HOSTS = {
  raw: 'raw.example.test',
  wrongName: 'wrong-name.example.test',
  unknownAuthority: 'unknown-authority.example.test',
  oldTls: 'old-tls.example.test',
  plain: 'plain.example.test',
  silent: 'silent.example.test',
  closed: 'closed.example.test',
} as const;

/** Bytes that are no proper HTTP response, by path. Functions go on until the connection closes. */
const RAW: Readonly<Record<string, string | ((socket: Socket) => void)>> = {
  '/no-http': 'SSH-2.0-OpenSSH_9.6\r\n',
  '/two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  '/length-and-chunks':
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  '/bad-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx',
  '/too-short': 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhello',
  '/negative': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello',
  '/upgrade': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
  '/large-header': `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  '/hints-for-ever': (socket) => forEver(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  '/headers-for-ever': (socket) => forEver(socket, 'X-More: again\r\n', 'HTTP/1.1 200 OK\r\n'),
  '/silent': () => undefined,
};

/** Answers of a server that speaks HTTP, by path. */
const REPLIES: Readonly<Record<string, ReceiverReply>> = {
  '/hook': { status: 204 },
  '/loop': { status: 302, headers: { location: '/loop' } },
  '/redirect-to-nothing': { status: 302 },
  '/gzip': { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(50_000_000)) },
  '/hang': 'hang',
  '/reset': 'reset',
  '/drip': 'drip',
  '/endless': 'endless',
  '/400': { status: 400, body: '<script>' },
  '/500': { status: 500, headers: { 'retry-after': '99999999999999999999' } },
  '/999': { status: 999 },
};

/** Origins and receivers of all kinds; they are there before the stack, which is told how to reach them. */
export async function startOrigins() {
  const replies: Record<string, ReceiverReply> = { ...REPLIES };
  const media = await startHttpsReceiver({
    hostnames: [MEDIA_HOST],
    script: ({ path }) => {
      if (!path.startsWith(REDIRECT)) return replies[path] ?? { status: 404 };
      return { status: 302, headers: { location: decodeURIComponent(path.slice(REDIRECT.length)) } };
    },
  });
  const authority = await createCertificateAuthority();
  const wrongName = await startHttpsReceiver({ hostnames: ['other.example.test'], authority });
  const unknownAuthority = await startHttpsReceiver({ hostnames: [HOSTS.unknownAuthority] });
  const oldTls = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
  const servers: Readonly<Record<string, Server>> = {
    [HOSTS.raw]: createTlsServer(await authority.issue([HOSTS.raw]), replyRaw),
    [HOSTS.oldTls]: createTlsServer({ ...(await authority.issue([HOSTS.oldTls])), ...oldTls }),
    [HOSTS.plain]: createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')),
    [HOSTS.silent]: createTcpServer(),
  };
  const egressRoutes = [
    `${MEDIA_HOST}:443=${media.address}`,
    `${HOSTS.wrongName}:443=${wrongName.address}`,
    `${HOSTS.unknownAuthority}:443=${unknownAuthority.address}`,
    `${HOSTS.closed}:443=127.0.0.1:1`,
  ];
  const sockets = new Set<Socket>();
  for (const [host, server] of Object.entries(servers)) {
    server.on('connection', (socket: Socket) =>
      sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket))),
    );
    server.on('tlsClientError', () => undefined);
    egressRoutes.push(`${host}:443=127.0.0.1:${await listenOnLoopback(server)}`);
  }
  return {
    /** What the media origin answers, by path; more can be added. */
    replies,
    egressRoutes,
    egressCa: `${media.ca}\n${authority.cert}`,
    close: async () => {
      await Promise.all([media.close(), wrongName.close(), unknownAuthority.close()]);
      for (const socket of sockets) socket.destroy();
      await Promise.all(
        Object.values(servers).map((server) => new Promise((resolve) => server.close(resolve))),
      );
    },
  };
}

export type Origins = Awaited<ReturnType<typeof startOrigins>>;

function replyRaw(socket: TLSSocket): void {
  socket.on('error', () => undefined);
  socket.once('data', (head: Buffer) => {
    const reply = RAW[head.toString('latin1').split(' ')[1] ?? ''];
    if (typeof reply === 'function') reply(socket);
    else socket.end(reply ?? '', 'latin1');
  });
}

function forEver(socket: Socket, text: string, first = ''): void {
  socket.write(first);
  const block = text.repeat(100);
  const timer = setInterval(() => socket.writableNeedDrain || socket.write(block), 10);
  socket.once('close', () => clearInterval(timer));
}

/** A webhook is delivered once the head of a good answer is there. */
const RAW_DELIVERIES: Readonly<Record<string, string>> = {
  '/bad-chunk': 'delivered',
  '/too-short': 'delivered',
  '/hints-for-ever': 'timeout',
  '/silent': 'timeout',
};

/** Which origins, the error codes that an asset may fail with there, and what becomes of a webhook. */
const CASES: readonly (readonly [
  host: string,
  path: string,
  codes: readonly ErrorCode[],
  delivery: string,
])[] = [
  [MEDIA_HOST, '/loop', ['media_url_not_allowed'], 'redirect'],
  [MEDIA_HOST, '/redirect-to-nothing', ['media_url_not_allowed'], 'redirect'],
  [MEDIA_HOST, '/gzip', ['media_unsupported'], 'delivered'],
  [MEDIA_HOST, '/hang', ['media_download_failed'], 'timeout'],
  [MEDIA_HOST, '/reset', ['media_download_failed'], 'connection_failed'],
  [MEDIA_HOST, '/drip', ['media_download_failed'], 'delivered'],
  // Which limit it meets first depends on the machine.
  [MEDIA_HOST, '/endless', ['media_too_large', 'media_download_failed'], 'delivered'],
  [MEDIA_HOST, '/400', ['media_not_accessible'], 'http_error'],
  [MEDIA_HOST, '/500', ['media_download_failed'], 'http_error'],
  [MEDIA_HOST, '/999', ['media_download_failed'], 'http_error'],
  ...Object.keys(RAW).map(
    (path) =>
      [HOSTS.raw, path, ['media_download_failed'], RAW_DELIVERIES[path] ?? 'connection_failed'] as const,
  ),
  [HOSTS.wrongName, '/', ['media_download_failed'], 'tls_error'],
  [HOSTS.unknownAuthority, '/', ['media_download_failed'], 'tls_error'],
  [HOSTS.oldTls, '/', ['media_download_failed'], 'tls_error'],
  [HOSTS.plain, '/', ['media_download_failed'], 'tls_error'],
  [HOSTS.silent, '/', ['media_download_failed'], 'timeout'],
  [HOSTS.closed, '/', ['media_download_failed'], 'connection_failed'],
];

/**
 * Names origins that misbehave, for media and for webhooks. Each must end in its own class of failure, and another
 * customer's media and webhooks must get through meanwhile.
 */
export async function tryOrigins(bed: TestBed): Promise<CorpusResult> {
  const { result, expectOutcome } = createTally();
  const { attacker, victim } = bed;
  const hooks = [
    ...CASES.map(([host, path, , delivery]) => [`https://${host}${path}`, delivery] as const),
    ...[`https://127.0.0.1:${bed.canaryPort}/`, `https://${MEDIA_HOST}/hook`].map(
      (location) => [`https://${MEDIA_HOST}${redirectTo(location)}`, 'redirect'] as const,
    ),
  ];
  const watched: Promise<void>[] = [];
  for (const [host, path, codes] of CASES) {
    const url = `https://${host}${path}`;
    const { id } = await eventually(() => attacker.api.assets.create({ url, media_type: 'video' }));
    const end = endOf(() => attacker.api.assets.get(id));
    watched.push(end.then((outcome) => expectOutcome(`media at ${url}`, outcome, codes)));
  }
  for (const [url, expected] of hooks) {
    const event = await announceTo(attacker, url);
    const end = endOf(() => attacker.api.webhooks.get(event));
    watched.push(end.then((outcome) => expectOutcome(`a webhook to ${url}`, outcome, [expected])));
  }
  const startedAt = performance.now();
  const other = async () => {
    const audio = await victim.api.uploads.create(SAMPLE_AUDIO, { mediaType: 'audio' });
    const event = await announceTo(victim, `https://${MEDIA_HOST}/hook`);
    const asset = await endOf(() => victim.api.assets.get(audio.id));
    // A later attempt will do.
    const delivery = await endOf(async () => ({ status: (await victim.api.webhooks.get(event)).status }));
    expectOutcome("another customer's sound", asset, ['ready']);
    expectOutcome("another customer's webhook", delivery, ['delivered']);
    return Math.round(performance.now() - startedAt);
  };
  const [otherMs] = await Promise.all([other(), ...watched]);
  return { ...result, facts: { another_customer_waited_ms: otherMs } };
}

/**
 * Has an event sent to this address, and resolves to its id: of a render that is cancelled, or has failed before that for
 * want of its media.
 */
async function announceTo({ api }: Caller, webhookUrl: string): Promise<string> {
  const missing = { url: `https://${MEDIA_HOST}/missing.mp4` };
  const request = {
    video: missing,
    audio: missing,
    engines: ['musetalk' as const],
    sync_mode: 'loop' as const,
  };
  const { id } = await eventually(() => api.renders.create({ ...request, webhook_url: webhookUrl }));
  return eventually(async () => {
    const { webhook_event_id: event } = await api.renders.cancel(id).catch(() => api.renders.get(id));
    if (event === undefined) throw new Error('it has not ended yet');
    return event;
  });
}
