import { Client } from './client';
import { type Platform, type PutRequest } from './platform';
import { type LipSyncOptions } from './transport';

export * from './exports';

/** The service, as one customer sees it. */
export class LipSync extends Client {
  constructor(options: LipSyncOptions = {}) {
    super(options, browserPlatform);
  }
}

/** Browsers, and workers at the edge. */
const browserPlatform: Platform = {
  environment: () => undefined,
  openFile: () => Promise.reject(new TypeError('A browser opens no paths: pass a File or a Blob')),
  writeFile: () =>
    Promise.reject(new TypeError('A browser writes no paths: take the Blob, or pass a stream')),

  async put(request) {
    const { bytes, url, signal, fetch, onSent, onUnobserved } = request;
    // Browsers send no streams to stores that speak HTTP/1.1, and Content-Length is theirs to set.
    const body = bytes instanceof Blob ? bytes : await new Response(bytes.stream()).blob();
    const headers = Object.entries(request.headers).filter(([name]) => !/^content-length$/i.test(name));
    if (typeof XMLHttpRequest !== 'undefined')
      return putWithProgress(new XMLHttpRequest(), { ...request, body, headers });
    onUnobserved();
    const response = await fetch(url, { method: 'PUT', headers, body, signal, redirect: 'manual' });
    onSent(bytes.size);
    return response;
  },
};

// The part that is used here. The whole of TypeScript's DOM library would also offer to Node's code what only browsers have.
interface ProgressRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: (event: { loaded: number }) => void };
  onload: () => void;
  onerror: () => void;
  onabort: () => void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: Blob): void;
  abort(): void;
}
declare const XMLHttpRequest: (new () => ProgressRequest) | undefined;

/** fetch does not tell how much of a body was sent; this does. */
function putWithProgress(
  request: ProgressRequest,
  {
    url,
    headers,
    body,
    onSent,
    signal,
  }: Omit<PutRequest, 'headers'> & { headers: [string, string][]; body: Blob },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const onAbort = () => request.abort();
    const ended = () => signal.removeEventListener('abort', onAbort);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      ended();
      // Null where there is none: an answer with 204 may have no body, not even an empty one.
      resolve(new Response(request.responseText || null, { status: request.status }));
    };
    request.onerror = () => {
      ended();
      // Nothing else is told: a broken connection, and an answer that other origins must not see.
      reject(new TypeError('the connection broke, or the store does not allow this origin'));
    };
    request.onabort = () => reject(signal.reason as Error);
    request.open('PUT', url);
    for (const [name, value] of headers) request.setRequestHeader(name, value);
    signal.addEventListener('abort', onAbort, { once: true });
    request.send(body);
  });
}
