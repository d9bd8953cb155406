import { type OperationId, OPERATIONS } from '@lipsync/contract';
import { type ContractResponse, expectContract } from '@lipsync/testkit';

export interface RequestOptions {
  /** API key; omitted: none is sent. */
  key?: string;
  /** Sent as JSON, with that content type unless `headers` sets another. */
  json?: unknown;
  /** Sent as is. */
  raw?: string | Uint8Array | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
}

/** Sends one request and reads the whole response, which under /v1 must conform to the contract. */
export async function send(
  url: string,
  method: string,
  options: RequestOptions = {},
): Promise<ContractResponse> {
  const headers = new Headers(options.headers);
  if (options.key !== undefined) headers.set('Authorization', `Bearer ${options.key}`);
  if (options.json !== undefined && !headers.has('Content-Type'))
    headers.set('Content-Type', 'application/json');
  const body = options.json === undefined ? options.raw : JSON.stringify(options.json);
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const parsed: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
  const answer = { status: response.status, headers: response.headers, body: parsed };
  const { pathname } = new URL(url);
  if (pathname === '/v1' || pathname.startsWith('/v1/'))
    expectContract(operationAt(method, pathname), answer);
  return answer;
}

/** The operation that a request targets, or null. HEAD counts as GET, and one trailing slash is ignored. */
function operationAt(method: string, pathname: string): OperationId | null {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const found = OPERATIONS.find(
    (operation) =>
      operation.method === verb &&
      new RegExp(`^${operation.path.replace('{id}', '[^/]+')}/?$`).test(pathname),
  );
  return found?.operationId ?? null;
}
