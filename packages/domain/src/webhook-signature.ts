import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far the timestamp of a signature may be from the receiver's clock, in either direction. */
const SIGNATURE_TOLERANCE_SECONDS = 300;

const HEX = /^(?:[0-9a-f]{2})+$/i;
const HEADER = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

// Buffer.from silently stops at the first character that is not hexadecimal. A damaged secret must not sign.
function keyOf(secretHex: string): Buffer {
  if (!HEX.test(secretHex)) throw new TypeError('A signing secret is a hexadecimal string');
  return Buffer.from(secretHex, 'hex');
}

/**
 * The value of Svc-Signature: `t=<unix seconds>,v1=<hex HMAC-SHA256>` over `<t>.<delivery id>.<raw body>`.
 * @param secretHex the customer's signing secret; its decoded bytes are the key
 * @param t unix seconds of this attempt
 * @param body the exact bytes that are sent (a string stands for its UTF-8)
 */
export function signatureHeader(
  secretHex: string,
  t: number,
  deliveryId: string,
  body: string | Uint8Array,
): string {
  if (!Number.isSafeInteger(t) || t < 0) throw new RangeError('A signature is dated in whole unix seconds');
  const mac = createHmac('sha256', keyOf(secretHex)).update(`${t}.${deliveryId}.`).update(body).digest('hex');
  return `t=${t},v1=${mac}`;
}

interface ReceivedWebhook {
  readonly secretHex: string;
  /** The value of Svc-Signature. */
  readonly header: string;
  /** The value of Svc-Delivery-ID. */
  readonly deliveryId: string;
  readonly body: string | Uint8Array;
  /** The receiver's clock, in unix seconds. */
  readonly nowSeconds: number;
}

/** What a receiver does: returns true for a genuine signature that is at most five minutes old (or ahead). */
export function verifyWebhookSignature(received: ReceivedWebhook): boolean {
  const t = HEADER.exec(received.header)?.[1];
  if (t === undefined) return false;
  // Before the signature, because the time costs nothing to check. Not `>`, which NaN would pass.
  if (!(Math.abs(received.nowSeconds - Number(t)) <= SIGNATURE_TOLERANCE_SECONDS)) return false;
  const expected = signatureHeader(received.secretHex, Number(t), received.deliveryId, received.body);
  const [a, b] = [Buffer.from(expected), Buffer.from(received.header)];
  return a.length === b.length && timingSafeEqual(a, b);
}
