import { LipSyncError } from './errors';
import { type WebhookEvent } from './resources';

export type WebhookVerificationReason =
  | 'missing_header'
  | 'malformed_signature'
  | 'wrong_signature'
  | 'timestamp_out_of_tolerance'
  | 'malformed_event';

/** A delivery that is not to be trusted. Answer it with 400. */
export class WebhookVerificationError extends LipSyncError {
  override readonly name = 'WebhookVerificationError';

  constructor(
    readonly reason: WebhookVerificationReason,
    message: string,
  ) {
    super(message);
  }
}

export interface VerifyOptions {
  /** How far the signature's time may be from `now`, in either direction; 300. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970. */
  now?: number;
}

/** The request's headers: those of fetch, or an object with names in any case. */
export type WebhookHeaders =
  Headers | Readonly<globalThis.Record<string, string | readonly string[] | undefined>>;

const SIGNATURE = /^t=(\d{1,12})((?:,v1=[0-9a-f]{64})+)$/;
const SECRET = /^(?:[0-9a-f]{2})+$/i;

/**
 * Verifies one delivery of a webhook and returns its event. Pass the body as it was received: bytes that went through a
 * JSON parser no longer match. While a signing secret is being replaced, pass both.
 * @throws WebhookVerificationError if the delivery is not to be trusted
 * @throws TypeError if the arguments are wrong, such as a parsed body or a secret that is not hexadecimal
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const body = bytesOf(rawBody);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  if (keys.length === 0) throw new TypeError('Pass at least one signing secret');
  const signature = headerOf(headers, 'svc-signature');
  const deliveryId = headerOf(headers, 'svc-delivery-id');

  const parts = SIGNATURE.exec(signature);
  if (parts === null) throw new WebhookVerificationError('malformed_signature', 'Svc-Signature is malformed');
  const [, timestamp = '', macs = ''] = parts;
  const signed = concatenated(new TextEncoder().encode(`${timestamp}.${deliveryId}.`), body);
  const candidates = macs
    .split(',v1=')
    .slice(1)
    .flatMap((mac) => keys.map((key) => crypto.subtle.verify('HMAC', key, fromHex(mac), signed)));
  // Web Crypto compares in constant time.
  if (!(await Promise.all(candidates)).includes(true))
    throw new WebhookVerificationError('wrong_signature', 'The webhook was not signed with this secret');
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError(
      'timestamp_out_of_tolerance',
      `The webhook was signed more than ${toleranceSeconds} s from now`,
    );
  return eventOf(body);
}

function bytesOf(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  throw new TypeError('Pass the raw body: a string or bytes, before any JSON parser');
}

// A damaged secret must not verify: with an empty key anybody can sign.
function keyOf(secret: string) {
  if (!SECRET.test(secret)) throw new TypeError('A signing secret is a hexadecimal string');
  return crypto.subtle.importKey('raw', fromHex(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError('missing_header', `The header ${name} is missing`);
}

function eventOf(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('malformed_event', 'The body is not JSON');
  }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
