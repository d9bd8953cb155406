import { type Input } from '@lipsync/contract';
import {
  IDEMPOTENCY_KEY_MAX_LENGTH,
  parseMediaUrl,
  parseWebhookUrl,
  POLL_HINT_SECONDS,
  ServiceError,
} from '@lipsync/domain';
import { type Customer } from '../http/authenticate';

/** One authenticated and routed request. */
interface Call {
  customer: Customer;
  /** The path's `{id}`, or '' when the operation has none. Not validated. */
  id: string;
  /** A JSON object, not yet validated against its schema; undefined for operations without a body. */
  body: object | undefined;
  /** Every Idempotency-Key header of the request. */
  idempotencyHeaders: readonly string[];
  /** W3C trace context of the request, for the work that it starts; undefined if it has none. */
  traceParent: string | undefined;
}

/** An operation's response on success; the contract defines the status. */
interface Reply {
  body: object;
  headers?: Readonly<Record<string, string>>;
  /** Identifier for the log. */
  resourceId: string;
}

/** One operation of the contract. Refusals are thrown as ServiceError. */
export type Handler = (call: Call) => Promise<Reply>;

/**
 * The idempotency key of a request, from its header or its body; null when neither has one (an empty key counts as
 * none).
 *
 * @param headerValues every Idempotency-Key header that was sent, as node:http decodes them
 * @throws ServiceError invalid_idempotency_key, idempotency_key_mismatch
 */
export function resolveIdempotencyKey(
  headerValues: readonly string[],
  bodyValue: string | undefined,
): string | null {
  const [header = '', ...others] = headerValues.map(asUtf8);
  if (others.some((other) => other !== header)) throw new ServiceError('invalid_idempotency_key');
  const body = bodyValue ?? '';
  if ([header, body].some((key) => [...key].length > IDEMPOTENCY_KEY_MAX_LENGTH))
    throw new ServiceError('invalid_idempotency_key');
  if (header !== '' && body !== '' && header !== body) throw new ServiceError('idempotency_key_mismatch');
  return header || body || null;
}

/** node:http decodes header bytes as Latin-1, while the same key in a JSON body is UTF-8. Every character counts. */
function asUtf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/**
 * URLs are stored as parsed and vetted, not as written, so that a host has the same name wherever it is used: in
 * fetches, in per-host counts and in TLS.
 *
 * @throws ServiceError invalid_media_url
 */
export function parsedInput(name: 'video' | 'audio', input: Input): Input {
  return 'url' in input ? { url: parseMediaUrl(input.url, `/${name}/url`).href } : input;
}

/** The same for the webhook URL. @throws ServiceError invalid_webhook_url */
export function parsedWebhook({ webhook_url: raw }: { webhook_url?: string }): { webhook_url?: string } {
  return raw === undefined ? {} : { webhook_url: parseWebhookUrl(raw, '/webhook_url').href };
}

/** The header that marks a response as a replay of an earlier request with the same idempotency key. */
export function replayed(isReplay: boolean): Readonly<Record<string, string>> {
  return isReplay ? { 'Idempotent-Replayed': 'true' } : {};
}

/** Retry-After for a resource that is still changing. */
export function pollHint(isUnfinished: boolean): Readonly<Record<string, string>> {
  return isUnfinished ? { 'Retry-After': String(POLL_HINT_SECONDS) } : {};
}
