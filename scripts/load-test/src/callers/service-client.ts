import { setTimeout as delay } from 'node:timers/promises';
import {
  type OperationId,
  operationNamed,
  type RecordResource,
  type SuccessBody,
  type Upload,
} from '@lipsync/contract';
import { operationOutcome, type Outcome, storeOutcome, transportOutcome } from '../track/outcome';
import { type MeasuredRequest } from '../track/recorder';
import { type HttpAnswer, type HttpClient, type HttpExchange, parseJson } from './http-client';

/** A request of the run: when its caller wanted it, its actual times and its result. */
interface Exchange<Body> {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly outcome: Outcome;
  /** The contract's success response, or null. */
  readonly body: Body | null;
  readonly headers: HttpAnswer['headers'];
}

interface CallOptions {
  readonly intendedAt: number;
  readonly id?: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Error codes that count as correct here. */
  readonly expected?: readonly string[];
  /** The name to record it under; default: the operation's own. */
  readonly as?: string;
}

const RENDER_OPERATIONS: ReadonlySet<OperationId> = new Set(['create_render', 'get_render', 'cancel_render']);

/** POST operations that the contract makes safe to repeat. */
const REPEATABLE_POSTS: ReadonlySet<OperationId> = new Set(['cancel_render', 'complete_upload']);

interface ServiceClientOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly http: HttpClient;
  readonly clockOffset: ClockOffsetEstimate;
  readonly onRequest: (request: MeasuredRequest) => void;
  /** Called with the render of every answer that contains one. */
  readonly onRender: (record: RecordResource, sentAt: number, answeredAt: number) => void;
}

/** The public API as one customer uses it, with every request measured and checked against the contract. */
export function createServiceClient(options: ServiceClientOptions) {
  const { apiKey, http, clockOffset, onRequest, onRender } = options;
  const base = options.baseUrl.replace(/\/+$/, '');

  function measured<Body>(
    operation: string,
    intendedAt: number,
    { sentAt, answeredAt, answer, transportError }: HttpExchange,
    judge: (answer: HttpAnswer) => { outcome: Outcome; body: Body | null },
  ): Exchange<Body> {
    const { outcome, body } =
      answer === null
        ? { outcome: transportOutcome(transportError ?? 'connection_failed'), body: null }
        : judge(answer);
    onRequest({ operation, intendedAt, sentAt, answeredAt, outcome });
    return { sentAt, answeredAt, outcome, body, headers: answer?.headers ?? {} };
  }

  return {
    async call<Id extends OperationId>(
      operationId: Id,
      { intendedAt, id, body, idempotencyKey, expected, as = operationId }: CallOptions,
    ): Promise<Exchange<SuccessBody<Id>>> {
      const { method, path } = operationNamed(operationId);
      const text = body === undefined ? undefined : JSON.stringify(body);
      const exchange = await http.send({
        method: method.toUpperCase(),
        url: base + path.replace('{id}', encodeURIComponent(id ?? '')),
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(text === undefined ? {} : { body: text }),
        repeatable: method === 'get' || idempotencyKey !== undefined || REPEATABLE_POSTS.has(operationId),
      });
      return measured(as, intendedAt, exchange, (answer) => {
        const epoch = (at: number): number => performance.timeOrigin + at;
        clockOffset.observe(answer.headers.date, epoch(exchange.sentAt), epoch(exchange.answeredAt));
        const parsed = parseJson(answer.body);
        const outcome = operationOutcome(operationId, answer.status, parsed, expected);
        if (outcome.class !== 'success') return { outcome, body: null };
        if (RENDER_OPERATIONS.has(operationId))
          onRender(parsed as RecordResource, exchange.sentAt, exchange.answeredAt);
        return { outcome, body: parsed as SuccessBody<Id> };
      });
    },

    /** Sends the bytes of an upload. */
    async putBytes(upload: Upload, bytes: Buffer, intendedAt: number): Promise<Exchange<true>> {
      const exchange = await http.send({
        method: upload.method,
        url: upload.upload_url,
        headers: upload.required_headers,
        body: bytes,
        repeatable: true,
      });
      return measured('put_bytes', intendedAt, exchange, (answer) => {
        const outcome = storeOutcome(answer.status);
        return { outcome, body: outcome.class === 'success' ? true : null };
      });
    },

    /** Downloads an output from its signed URL, whole. */
    async download(url: string, intendedAt: number): Promise<Exchange<HttpAnswer>> {
      const exchange = await http.send({
        ...{ method: 'GET', url, headers: {}, repeatable: true },
        bodyLimit: Infinity,
      });
      return measured('download_output', intendedAt, exchange, (answer) => {
        const outcome = storeOutcome(answer.status);
        return { outcome, body: outcome.class === 'success' ? answer : null };
      });
    },
  };
}

export type ServiceClient = ReturnType<typeof createServiceClient>;

const PAUSE_MS = 500;

/**
 * Repeats a call until a response is `isEnough`, or repeating cannot change it, or `deadline` has passed. Returns the
 * last response. Only for calls that may be repeated.
 */
export async function ask<Id extends OperationId>(
  client: ServiceClient,
  deadline: number,
  operationId: Id,
  options: Omit<CallOptions, 'intendedAt'>,
  isEnough: (body: SuccessBody<Id>) => boolean = () => true,
): Promise<Exchange<SuccessBody<Id>>> {
  for (;;) {
    const exchange = await client.call(operationId, { ...options, intendedAt: performance.now() });
    const { body, outcome } = exchange;
    const isFinal = body === null ? outcome.retryable === false : isEnough(body);
    if (isFinal || performance.now() >= deadline) return exchange;
    await delay(retryAfterMs(exchange.headers['retry-after']) ?? PAUSE_MS);
  }
}

/** Supports only seconds; the service never sends a date. */
export function retryAfterMs(header: string | undefined): number | undefined {
  const seconds = Number(header ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/**
 * Estimates how far the service's clock is ahead of the harness's, in milliseconds, from Date headers. Each means that,
 * at some moment between sending and answering, the service's clock was within that second, which bounds the offset on
 * both sides. The tightest bounds over many responses leave only a fraction of a second.
 */
export function createClockOffsetEstimate() {
  let lowest = -Infinity;
  let highest = Infinity;
  return {
    /** One response: its Date header, and when its request was sent and answered (epoch milliseconds). */
    observe(dateHeader: string | undefined, sentAtMs: number, answeredAtMs: number): void {
      const second = Date.parse(dateHeader ?? '');
      if (Number.isNaN(second)) return;
      lowest = Math.max(lowest, second - answeredAtMs);
      highest = Math.min(highest, second + 1000 - sentAtMs);
    },
    /** 0 before the first observation. */
    current: (): number => (lowest === -Infinity ? 0 : (lowest + highest) / 2),
  };
}

type ClockOffsetEstimate = ReturnType<typeof createClockOffsetEstimate>;
