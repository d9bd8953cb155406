import { TimeoutError } from './errors';
import { pause } from './time';
import { type Answer, type CallOptions, type Transport } from './transport';

export interface WatchOptions extends CallOptions {
  /** Milliseconds after which a TimeoutError is thrown; without it, watching ends when the resource does. */
  timeoutMs?: number | undefined;
  /** Milliseconds between two looks; without it as the service asks. */
  pollIntervalMs?: number | undefined;
}

export interface WaitOptions<Resource> extends WatchOptions {
  /** Called with the first state and with every changed one. */
  onChange?: ((resource: Resource) => void) | undefined;
}

/** Milliseconds for which a service that cannot be reached is asked again before watching fails. */
const PATIENCE_MS = 300_000;
const FIRST_POLL_MS = 1000;
const LONGEST_POLL_MS = 5000;

interface Watched {
  id: string;
  status: string;
}

/** Yields the first state and every changed one, up to and including the last. */
export async function* watch<Resource extends Watched>(
  path: string,
  isTerminal: (resource: Resource) => boolean,
  { signal, timeoutMs = Infinity, pollIntervalMs }: WatchOptions,
  transport: Transport,
): AsyncGenerator<Resource, void, void> {
  const startedAt = performance.now();
  const leftMs = () => timeoutMs - (performance.now() - startedAt);
  let seen: string | undefined;
  let backoffMs = FIRST_POLL_MS;
  for (;;) {
    const patience = { maxRetries: Infinity, timeoutMs: Math.min(PATIENCE_MS, leftMs()) };
    const { body, retryAfterSeconds }: Answer<Resource> = await transport.get(path, { ...patience, signal });
    const state = visibleState(body);
    if (state !== seen) yield body;
    if (isTerminal(body)) return;
    if (state !== seen) backoffMs = FIRST_POLL_MS;
    seen = state;
    const askedMs = retryAfterSeconds === undefined ? backoffMs : retryAfterSeconds * 1000;
    const waitMs = pollIntervalMs ?? askedMs;
    backoffMs = Math.min(LONGEST_POLL_MS, backoffMs * 1.5);
    await pause(Math.min(waitMs, leftMs()), signal);
    if (leftMs() <= 0) throw new TimeoutError(`${body.id} was still ${body.status} after ${timeoutMs} ms`);
  }
}

/** The last state; `onChange` sees every one. */
export async function wait<Resource>(
  states: AsyncGenerator<Resource, void, void>,
  onChange: ((resource: Resource) => void) | undefined,
): Promise<Resource> {
  let last: Resource | undefined;
  for await (const state of states) {
    last = state;
    onChange?.(state);
  }
  if (last === undefined) throw new TypeError('There was nothing to wait for');
  return last;
}

/** Changes when the state does. Every answer signs new URLs of the outputs, and updated_at also moves without a change. */
function visibleState(resource: Watched): string {
  const volatile = new Set(['url', 'expires_at', 'updated_at']);
  return JSON.stringify(resource, (name, value: unknown) => (volatile.has(name) ? undefined : value));
}
