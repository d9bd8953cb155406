import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { WebhookEvent } from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import { isObject } from '../is-object';

/** One attempt to deliver an event. */
export interface Attempt {
  /** When it was signed. */
  at: string;
  event: WebhookEvent;
  delivery_id: string;
  /** The status of the receiver's answer; null when there was none. */
  status: number | null;
  /** How the receiver's answer begins, or why there is none. */
  answer: string;
  latency_ms: number;
  delivered: boolean;
  /** After how long the receiver wants it again, if it said so. */
  retry_after_seconds?: number;
}

interface Delivery {
  to: URL;
  event: WebhookEvent;
  deliveryId: string;
  /** Hexadecimal. */
  secret: string;
  signal: AbortSignal;
}

/** As long as the service waits. */
const TIMEOUT_MS = 15_000;
const ANSWER_LENGTH_MAX = 300;
/** The service's own, so that receivers cannot tell the difference. */
const USER_AGENT = 'lipsync-service-webhooks/1.0';

/** @throws CommandError */
export function receiverOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url;
  throw new CommandError(`"${text}" is not a URL.`, 'usage', 'Use one like http://localhost:3000/hook');
}

/** Signs an event and posts it as the service does, except that the receiver may be on this machine and need no TLS. */
export async function deliver({ to, event, deliveryId, secret, signal }: Delivery): Promise<Attempt> {
  const at = new Date();
  const body = Buffer.from(JSON.stringify(event));
  const seconds = Math.floor(at.getTime() / 1000);
  const signature = createHmac('sha256', Buffer.from(secret, 'hex'))
    .update(`${seconds}.${deliveryId}.`)
    .update(body)
    .digest('hex');
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'accept-encoding': 'identity',
    'Svc-Event-ID': event.id,
    'Svc-Delivery-ID': deliveryId,
    'Svc-Signature': `t=${seconds},v1=${signature}`,
  };
  const sentAt = performance.now();
  const answered = await post(to, headers, body, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    return { status: null, answer: reasonOf(error) };
  });
  const latency_ms = Math.round(performance.now() - sentAt);
  const delivered = answered.status !== null && answered.status >= 200 && answered.status <= 299;
  return { at: at.toISOString(), event, delivery_id: deliveryId, ...answered, latency_ms, delivered };
}

type Answer = Pick<Attempt, 'status' | 'answer' | 'retry_after_seconds'>;

/** Redirects are answers, too: the service follows none. */
async function post(
  to: URL,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  signal: AbortSignal,
): Promise<Answer> {
  const { request } = to.protocol === 'https:' ? https : http;
  const outgoing = request(to, { method: 'POST', headers, signal });
  const tooLate = setTimeout(() => outgoing.destroy(new Error('no answer within 15 s')), TIMEOUT_MS);
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve).once('error', reject).end(body);
    });
    const retryAfter = response.headers['retry-after'] ?? '';
    return {
      status: response.statusCode ?? 0,
      answer: await beginningOf(response),
      ...(/^\d{1,9}$/.test(retryAfter) && { retry_after_seconds: Number(retryAfter) }),
    };
  } finally {
    clearTimeout(tooLate);
    outgoing.destroy();
  }
}

async function beginningOf(response: http.IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk);
      if (text.length > ANSWER_LENGTH_MAX) return `${text.slice(0, ANSWER_LENGTH_MAX)}…`;
    }
  } catch {
    // The status has decided already.
  }
  return text.trim();
}

function reasonOf(error: unknown): string {
  if (!isObject(error)) return String(error);
  const { code, message } = error;
  if (code === 'ECONNREFUSED') return 'nothing is listening there';
  if (code === 'ENOTFOUND') return 'no such host';
  return String(message || code);
}

/** `09:05:12  render.completed  ren_…  → 200 in 12 ms: what the receiver answered` */
export function describeAttempt({ at, event, status, answer, latency_ms }: Attempt): string {
  const time = new Date(at).toLocaleTimeString('sv-SE');
  const result = status === null ? answer : `${status} in ${latency_ms} ms${answer && `: ${answer}`}`;
  return `${time}  ${event.type}  ${event.data.id}  → ${result}`;
}
