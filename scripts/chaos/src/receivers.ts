import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  createCertificateAuthority,
  type ReceivedRequest,
  type ReceiverReply,
  startHttpsReceiver,
} from '@lipsync/testkit';
import type { History } from './history';
import { startTcpProxy } from './tcp-proxy';

export const RECEIVER_HOST = 'hooks.chaos.test';
export const ORIGIN_HOST = 'media.chaos.test';

/** What a receiver does with the first request for an event; each further one gets 200. */
export const BEHAVIORS = ['steady', 'failing', 'resetting', 'hanging', 'redirecting'] as const;
const FIRST_REPLY: Readonly<Record<string, ReceiverReply>> = {
  failing: { status: 500 },
  resetting: 'reset',
  hanging: 'hang',
  redirecting: { status: 307, headers: { location: `https://${RECEIVER_HOST}/elsewhere` } },
};

/**
 * HTTPS servers of customers: `/<customer>/<behavior>/<nonce>` receives webhooks and verifies them as the contract
 * tells a receiver to; the other host serves media, slowly or not at all where the path says so.
 */
export async function startReceivers(history: History, files: Readonly<Record<string, Buffer>>) {
  const authority = await createCertificateAuthority();
  const seen = new Map<string, number>();
  let secrets: readonly string[] = [];

  const receive = (request: ReceivedRequest): ReceiverReply => {
    const [, customer = '', behavior = ''] = request.path.split('/');
    const count = (seen.get(request.path) ?? 0) + 1;
    seen.set(request.path, count);
    const reply = (count === 1 ? FIRST_REPLY[behavior] : undefined) ?? { status: 200 };
    const body = request.body.toString();
    const event = JSON.parse(body) as { id: string; type: string };
    const record = recordIn(event);
    const deliveryId = String(request.headers['svc-delivery-id']);
    const [, signedAt = '', mac = ''] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers['svc-signature'])) ?? [];
    const expected = createHmac('sha256', Buffer.from(secrets[Number(customer)] ?? '', 'hex'))
      .update(`${signedAt}.${deliveryId}.`)
      .update(request.body)
      .digest();
    history.add({
      kind: 'attempt',
      path: request.path,
      eventId: String(request.headers['svc-event-id']),
      deliveryId,
      type: event.type,
      recordId: record.id,
      recordStatus: record.status,
      bodyDigest: createHash('sha256').update(request.body).digest('hex'),
      isSigned:
        mac !== '' &&
        timingSafeEqual(Buffer.from(mac, 'hex'), expected) &&
        event.id === request.headers['svc-event-id'],
      signedAt: Number(signedAt) * 1000,
      answered: typeof reply === 'object' ? reply.status : null,
    });
    return reply;
  };

  const serve = ({ path }: ReceivedRequest): ReceiverReply => {
    const [, behavior = '', name = ''] = path.split('/');
    const file = files[name];
    if (behavior === 'hanging') return 'hang';
    if (behavior === 'resetting') return 'reset';
    return file === undefined ? { status: 404 } : { status: 200, body: file };
  };

  const receiver = await startHttpsReceiver({ authority, hostnames: [RECEIVER_HOST], script: receive });
  const origin = await startHttpsReceiver({ authority, hostnames: [ORIGIN_HOST], script: serve });
  const receiverLink = await startTcpProxy(receiver.port);
  const originLink = await startTcpProxy(origin.port);
  return {
    authority: { cert: authority.cert, key: authority.key },
    routes: [
      `${RECEIVER_HOST}:443=127.0.0.1:${receiverLink.port}`,
      `${ORIGIN_HOST}:443=127.0.0.1:${originLink.port}`,
    ],
    links: [receiverLink, originLink],
    verifyWith: (signingSecrets: readonly string[]): void => {
      secrets = signingSecrets;
    },
    close: async (): Promise<void> => {
      await Promise.all([receiverLink.close(), originLink.close()]);
      await Promise.all([receiver.close(), origin.close()]);
    },
  };
}

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** The record is the one member of the event that is an object. */
function recordIn(event: object): { id: string; status: string } {
  const members: unknown[] = Object.values(event);
  return members.find((value) => typeof value === 'object' && value !== null) as {
    id: string;
    status: string;
  };
}
