import { signatureHeader } from '@lipsync/domain';
import { verifyWebhook, WebhookVerificationError, type WebhookVerificationReason } from '.';

const SECRET = 'a1'.repeat(32);
const OLD_SECRET = 'b2'.repeat(32);
const BODY = JSON.stringify({ id: 'evt_1', type: 'render.completed', data: { id: 'ren_1', note: 'ü' } });
const AT = 1_767_225_600;
const now = AT * 1000;

/** As the service signs and sends it. */
const sent = (secret = SECRET, body = BODY) => ({
  'svc-event-id': 'evt_1',
  'svc-delivery-id': 'dlv_1',
  'svc-signature': signatureHeader(secret, AT, 'dlv_1', body),
});

it('returns the event that the service signed, whatever holds body and headers', async () => {
  const bytes = new TextEncoder().encode(BODY);
  const event = { id: 'evt_1', type: 'render.completed', data: { id: 'ren_1', note: 'ü' } };
  const shouted = Object.fromEntries(
    Object.entries(sent()).map(([name, value]) => [name.toUpperCase(), value]),
  );
  await expect(verifyWebhook(BODY, sent(), SECRET, { now })).resolves.toEqual(event);
  await expect(verifyWebhook(bytes, new Headers(sent()), SECRET, { now })).resolves.toEqual(event);
  await expect(verifyWebhook(bytes.buffer, shouted, SECRET, { now })).resolves.toEqual(event);
  await expect(verifyWebhook(Buffer.from(BODY), sent(), SECRET, { now })).resolves.toEqual(event);
  await expect(verifyWebhook(new Blob([BODY]).stream(), sent(), SECRET, { now })).resolves.toEqual(event);
});

it('accepts what either secret signed while one is replaced', async () => {
  const secrets = [SECRET, OLD_SECRET];
  await expect(verifyWebhook(BODY, sent(SECRET), secrets, { now })).resolves.toMatchObject({ id: 'evt_1' });
  await expect(verifyWebhook(BODY, sent(OLD_SECRET), secrets, { now })).resolves.toMatchObject({
    id: 'evt_1',
  });
  const both = `${sent(OLD_SECRET)['svc-signature']},${sent(SECRET)['svc-signature'].split(',')[1]}`;
  const headers = { ...sent(), 'svc-signature': both };
  await expect(verifyWebhook(BODY, headers, SECRET, { now })).resolves.toMatchObject({ id: 'evt_1' });
});

const { 'svc-delivery-id': deliveryId, 'svc-signature': signature, ...unsigned } = sent();
const FORGERIES: [string, object, string | null, number, WebhookVerificationReason][] = [
  ['another secret', sent(OLD_SECRET), BODY, now, 'wrong_signature'],
  ['another body', sent(), `${BODY} `, now, 'wrong_signature'],
  ['another delivery', { ...sent(), 'svc-delivery-id': 'dlv_2' }, BODY, now, 'wrong_signature'],
  [
    'another time',
    { ...sent(), 'svc-signature': signature.replace(String(AT), String(AT + 1)) },
    BODY,
    now,
    'wrong_signature',
  ],
  ['no signature', { ...unsigned, 'svc-delivery-id': deliveryId }, BODY, now, 'missing_header'],
  ['no delivery', { ...unsigned, 'svc-signature': signature }, BODY, now, 'missing_header'],
  [
    'a damaged signature',
    { ...sent(), 'svc-signature': signature.slice(1) },
    BODY,
    now,
    'malformed_signature',
  ],
  ['a request without a body', sent(), null, now, 'wrong_signature'],
  ['a replay, later', sent(), BODY, now + 301_000, 'timestamp_out_of_tolerance'],
  ['a clock that is ahead', sent(), BODY, now - 301_000, 'timestamp_out_of_tolerance'],
  ['signed nonsense', sent(SECRET, 'hello'), 'hello', now, 'malformed_event'],
];
it.each(FORGERIES)('refuses %s', async (_, headers, body, at, reason) => {
  const verifying = verifyWebhook(body, headers as Record<string, string>, SECRET, { now: at });
  await expect(verifying).rejects.toMatchObject({ reason });
  await expect(verifying).rejects.toBeInstanceOf(WebhookVerificationError);
});

/** Signatures of the right form that nobody made. */
const forged = (count: number) => `t=${AT}${`,v1=${'0'.repeat(64)}`.repeat(count)}`;
const LARGE = new Uint8Array(1024 * 1024 + 1);
it.each<[string, string, string | Uint8Array, number, number, WebhookVerificationReason]>([
  ['four signatures: one HMAC per secret', forged(4), BODY, now, 2, 'wrong_signature'],
  ['230 signatures', forged(230), BODY, now, 0, 'malformed_signature'],
  ['a signature of another time', signature, BODY, now + 301_000, 0, 'timestamp_out_of_tolerance'],
  ['more bytes than an event has', signature, LARGE, now, 0, 'body_too_large'],
  ['more text than an event has', signature, 'x'.repeat(LARGE.length), now, 0, 'body_too_large'],
])('works little for %s', async (_, header, body, at, hmacs, reason) => {
  const sign = jest.spyOn(crypto.subtle, 'sign');
  const verify = jest.spyOn(crypto.subtle, 'verify');
  try {
    const headers = { ...sent(), 'svc-signature': header };
    const verifying = verifyWebhook(body, headers, [SECRET, OLD_SECRET], { now: at });
    await expect(verifying).rejects.toMatchObject({ reason });
    expect(sign.mock.calls.length + verify.mock.calls.length).toBe(hmacs);
  } finally {
    jest.restoreAllMocks();
  }
});

it.each([
  ['no more than 1 MiB of a stream', now, 1024 * 1024 + 64 * 1024, 'body_too_large'],
  ['nothing of it when the headers are wrong', now + 301_000, 0, 'timestamp_out_of_tolerance'],
])('reads %s', async (_, at, mostBytes, reason) => {
  let read = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = new Uint8Array(64 * 1024);
        read += chunk.length;
        controller.enqueue(chunk);
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  await expect(verifyWebhook(endless, sent(), SECRET, { now: at })).rejects.toMatchObject({ reason });
  expect(read).toBeLessThanOrEqual(mostBytes);
  expect(isCancelled).toBe(read > 0);
});

it.each([
  ['a body that was parsed', JSON.parse(BODY) as string, SECRET],
  ['an empty secret, with which anybody can sign', BODY, ''],
  ['a secret that is too short to be one', BODY, 'a1'.repeat(31)],
  ['half a byte at the end of a secret', BODY, `${SECRET}a`],
  ['a secret that is not hexadecimal', BODY, 'whsec_xyz'],
  ['no secret', BODY, []],
])('does not work with %s', async (_, body, secrets) => {
  await expect(verifyWebhook(body, sent(), secrets, { now })).rejects.toBeInstanceOf(TypeError);
});

it.each([
  ['a tolerance that is not a number', { toleranceSeconds: NaN }],
  ['a tolerance below zero', { toleranceSeconds: -1 }],
  ['a tolerance without end', { toleranceSeconds: Infinity }],
  ['a clock that is not a number', { now: NaN }],
  ['a clock at infinity', { now: Infinity }],
])('does not work with %s', async (_, options) => {
  const verifying = verifyWebhook(BODY, sent(), SECRET, { now, ...options });
  await expect(verifying).rejects.toBeInstanceOf(TypeError);
});
