import { type IncomingMessage } from 'node:http';
import { withDeadline } from './deadline';
import { EgressError } from './egress-error';
import { exchange, headerOf, toEgressError } from './exchange';
import { type KeptConnections } from './kept-connections';
import { type EgressPolicy } from './policy';

export interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
  /** Total time, from the DNS lookup to the end of what is read of the response. */
  deadlineMs: number;
  signal?: AbortSignal;
}

export interface PostResponse {
  status: number;
  /** The Retry-After header as received. */
  retryAfter: string | null;
}

/** How much of a response body is read, so that a well-behaved receiver can finish writing it. */
const ANSWER_BYTES_MAX = 4_096;

/**
 * Sends a body to a customer's URL. Any status is a result; redirects are never followed. The status line and headers
 * decide, so an endless, slow or broken body after them changes nothing. The receiver may get the body twice if a kept
 * connection breaks (see `exchange`).
 * @throws EgressError, or the error of a socket that this process could not open (see `isOwnFault`)
 */
export async function post(
  { policy, kept }: { policy: EgressPolicy; kept: KeptConnections },
  url: string,
  options: PostOptions,
): Promise<PostResponse> {
  if (!URL.canParse(url)) throw new EgressError('address_not_allowed');
  const request = { method: 'POST', headers: options.headers, body: options.body } as const;
  return withDeadline(options.deadlineMs, options.signal, ({ signal }) =>
    exchange(new URL(url), request, { policy, signal, kept }, async (response) => {
      await readSome(response);
      return { status: response.statusCode ?? 0, retryAfter: headerOf(response, 'retry-after') };
    }).catch((error: unknown) => {
      throw toEgressError(error);
    }),
  );
}

async function readSome(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) return;
    }
  } catch {
    // The headers have already decided the outcome.
  }
}
