import {
  ApiError,
  ConnectionError,
  type Exchange,
  isTransient,
  LipSyncError,
  TimeoutError,
  UnexpectedResponse,
} from './errors';
import { type Error as ErrorBody } from './resources';
import { repeatedly, retryAfterSeconds, withDeadline } from './time';

/** The part of fetch that this client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface LipSyncOptions {
  /** Your API key, svc_ and 64 hexadecimal digits. In Node, Bun and Deno it defaults to the environment's LIPSYNC_API_KEY. */
  apiKey?: string | undefined;
  /** Where the service is, for example https://lipsync.example.com. Defaults to the environment's LIPSYNC_BASE_URL. */
  baseUrl?: string | undefined;
  /** Sends the requests instead of the global fetch. */
  fetch?: Fetch | undefined;
  /** Milliseconds that one call may take with all its repetitions; 2 minutes. Bytes of media are not counted. */
  timeoutMs?: number | undefined;
  /** How often a call is repeated that failed for a transient reason; 5. */
  maxRetries?: number | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface Answer<Body> {
  body: Body;
  /** When to look again at an unfinished resource. */
  retryAfterSeconds: number | undefined;
}

interface Call extends CallOptions {
  body?: object;
  /**
   * `any` (the default) repeats every transient failure; `refused` only when the service answered that it did not
   * do it, because doing it twice leaves something behind.
   */
  repeat?: 'any' | 'refused';
  maxRetries?: number;
  timeoutMs?: number | undefined;
}

/** Milliseconds in which one attempt must be answered. The service limits its own work to less. */
const ATTEMPT_MS = 30_000;

const API_KEY = /^svc_[0-9a-fA-F]{64}$/;

/** Says whether a text has the form of an API key. Whether it is one, only the service knows. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** Sends requests of the API: authenticated, in time, repeated where that is safe, with typed errors. */
export class Transport {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly #apiKey: string;
  readonly #baseUrl: string;

  constructor(options: LipSyncOptions, environment: (name: string) => string | undefined) {
    const apiKey = options.apiKey ?? environment('LIPSYNC_API_KEY');
    const baseUrl = options.baseUrl ?? environment('LIPSYNC_BASE_URL');
    if (!apiKey) throw new TypeError('The API key is missing: pass apiKey');
    if (!isApiKey(apiKey))
      throw new TypeError('This is not an API key: a key is svc_ followed by 64 hexadecimal digits');
    if (!baseUrl) throw new TypeError('The URL of the service is missing: pass baseUrl');
    this.#apiKey = apiKey;
    this.#baseUrl = new URL(baseUrl).href.replace(/\/+$/, '');
    // The global one is looked up at each call: it may be replaced, and must not get a receiver.
    this.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.timeoutMs = options.timeoutMs ?? 120_000;
    this.maxRetries = options.maxRetries ?? 5;
  }

  get<Body>(path: string, options: Omit<Call, 'body'> = {}): Promise<Answer<Body>> {
    return this.#call('GET', path, options);
  }

  post<Body>(path: string, options: Call = {}): Promise<Answer<Body>> {
    return this.#call('POST', path, options);
  }

  async #call<Body>(
    method: 'GET' | 'POST',
    path: string,
    { body, signal, repeat = 'any', maxRetries = this.maxRetries, timeoutMs = this.timeoutMs }: Call,
  ): Promise<Answer<Body>> {
    const mayRepeat = (error: unknown) =>
      isTransient(error) && (repeat === 'any' || (error instanceof ApiError && error.retryable));
    return repeatedly(
      { maxRetries, timeoutMs, signal },
      (leftMs) => {
        const isLast = leftMs < ATTEMPT_MS;
        const error = () =>
          isLast
            ? new TimeoutError(`${method} ${path} took longer than ${timeoutMs} ms`)
            : new ConnectionError(`${method} ${path}`, `was not answered within ${ATTEMPT_MS} ms`);
        return withDeadline({ ms: isLast ? leftMs : ATTEMPT_MS, signal, error }, (attemptSignal) =>
          this.#attempt<Body>(method, path, body, attemptSignal),
        );
      },
      mayRepeat,
    );
  }

  async #attempt<Body>(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Answer<Body>> {
    const headers = {
      authorization: `Bearer ${this.#apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const { response, text } = await connected(`${method} ${path}`, async () => {
      const answered = await this.fetch(`${this.#baseUrl}${path}`, {
        method,
        headers,
        signal,
        // A key belongs to one service. Followed, a POST would also become a GET.
        redirect: 'manual',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { response: answered, text: await answered.text() };
    });
    const answer = parsed(text);
    const waitSeconds = retryAfterSeconds(response.headers);
    if (response.ok && isObject(answer)) return { body: answer as Body, retryAfterSeconds: waitSeconds };
    if (isObject(answer) && isErrorBody(answer['error']))
      throw new ApiError({
        status: response.status,
        error: answer['error'],
        requestId: response.headers.get('x-request-id') ?? undefined,
        retryAfterSeconds: waitSeconds,
      });
    const detail = whereTo(response) || 'not in the contract';
    throw new UnexpectedResponse(`${method} ${path}`, response.status, detail, waitSeconds);
  }
}

/** Where a redirect leads, without the query, which may hold a signature; browsers do not tell. */
export function whereTo({ type, headers }: Response): string {
  const [location = ''] = headers.get('location')?.split('?', 1) ?? [];
  if (location !== '') return `it moved to ${location.slice(0, 200)}`;
  return type === 'opaqueredirect' ? 'a redirect' : '';
}

/**
 * The URL of a transfer, as the service named it.
 * @throws LipSyncError if it leads anywhere but to the web: fetch of Bun and Deno also opens files
 */
export function webAddress(url: string): string {
  if (/^https?:\/\//i.test(url)) return url;
  throw new LipSyncError('The service named a URL that is neither http nor https');
}

/** Runs what uses the network; its failures, other than this client's own, mean that no answer came. */
export async function connected<T>(exchange: Exchange, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof LipSyncError) throw cause;
    throw new ConnectionError(exchange, `was not answered: ${reasons(cause)}`, { cause });
  }
}

/** The error of fetch says only that it failed; its cause says that nothing listens or that the name is unknown. */
function reasons(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<globalThis.Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    isObject(value) &&
    typeof value['code'] === 'string' &&
    typeof value['message'] === 'string' &&
    typeof value['retryable'] === 'boolean'
  );
}
