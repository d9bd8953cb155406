import { type ContractResponse } from '@lipsync/testkit';

export interface RequestOptions {
  /** API key; none is sent when absent. */
  key?: string;
  /** Sent as JSON, with its content type unless `headers` names another. */
  json?: unknown;
  /** Sent as it is. */
  raw?: string | Uint8Array | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
}

/** Sends one request and reads the whole answer. */
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
  return { status: response.status, headers: response.headers, body: parsed };
}
