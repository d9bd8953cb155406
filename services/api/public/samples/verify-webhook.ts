import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Checks one webhook delivery. Pass the raw body: bytes that went through a JSON parser no longer match.
 * Returns the event; answer 2xx at once, deduplicate by its `id`, and work on it afterwards.
 */
export function verifyWebhook(request: {
  signature: string; // header Svc-Signature
  deliveryId: string; // header Svc-Delivery-ID
  rawBody: Buffer;
  signingSecret: string; // hexadecimal, from your administrator
  nowSeconds?: number;
}): unknown {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.signature);
  if (match === null) throw new Error('malformed signature');
  const [, timestamp = '', v1 = ''] = match;
  // Buffer.from stops at the first character that is not hexadecimal, and with an empty key anybody can sign.
  if (!/^[0-9a-f]{64}$/.test(request.signingSecret)) throw new Error('malformed signing secret');

  const expected = createHmac('sha256', Buffer.from(request.signingSecret, 'hex'))
    .update(`${timestamp}.${request.deliveryId}.`)
    .update(request.rawBody)
    .digest();
  if (!timingSafeEqual(expected, Buffer.from(v1, 'hex'))) throw new Error('wrong signature');

  const now = request.nowSeconds ?? Date.now() / 1000;
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) throw new Error('too old or too new');
  return JSON.parse(request.rawBody.toString('utf8'));
}
