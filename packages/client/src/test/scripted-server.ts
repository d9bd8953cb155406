import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

export interface ReceivedRequest {
  /** `METHOD /path`. */
  readonly name: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Reply =
  | { status: number; body?: object | Buffer; headers?: Readonly<Record<string, string>> }
  /** The connection breaks without an answer. */
  | 'cut'
  | ((response: ServerResponse, request: ReceivedRequest) => void);

export const refusal = (status: number, code: string, retryable: boolean): Reply => ({
  status,
  body: { error: { code, message: 'For a person.', retryable } },
  headers: { 'x-request-id': 'req-1', ...(retryable && { 'retry-after': '0' }) },
});

/** A service and its store. Answers each `METHOD /path` with its replies in turn; the last one stays. */
export async function startScriptedServer(
  script: (base: string) => Readonly<Record<string, readonly Reply[]>>,
) {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const name = `${request.method} ${request.url}`;
      const received = { name, headers: request.headers, body: Buffer.concat(chunks) };
      requests.push(received);
      const asked = requests.filter((other) => other.name === name).length;
      const reply = replies[name]?.slice(0, asked).at(-1) ?? { status: 404 };
      if (reply === 'cut') request.socket.destroy();
      else if (typeof reply === 'function') reply(response, received);
      else {
        const { status, body = {}, headers } = reply;
        const isBytes = Buffer.isBuffer(body);
        response.writeHead(status, headers).end(isBytes ? body : JSON.stringify(body));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const replies = script(base);
  return {
    base,
    requests,
    named: (name: string) => requests.filter((request) => request.name === name),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;
