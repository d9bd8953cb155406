import { conforms, type WebhookEvent } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import {
  createCertificateAuthority,
  type HttpsReceiver,
  type ReceiverScript,
  startHttpsReceiver,
} from '@lipsync/testkit';
import { RECEIVER_HOST, receiverPlaces } from './services';
import { type StackState } from './state';

export interface ReceivedEvent {
  id: string;
  type: string;
  deliveryId: string;
  /** Number of requests that carried this event: more than one after a redelivery. */
  deliveries: number;
}

/**
 * The receiving side of the contract, at a place where the services of a local stack reach it and no other demo
 * receives: verifies the signature over the raw bytes, then parses, then deduplicates.
 * @throws Error when as many receivers run as the stack has places for
 */
export async function startEventReceiver(
  state: Pick<StackState, 'ports' | 'authority'>,
  signingSecret: string,
) {
  const events = new Map<string, { event: WebhookEvent; received: ReceivedEvent }>();
  const { server, authority } = await listenWhereFree(state, ({ headers, body }) => {
    const deliveryId = header(headers['svc-delivery-id']);
    const valid = verifyWebhookSignature({
      secretHex: signingSecret,
      header: header(headers['svc-signature']),
      deliveryId,
      body: body.toString('utf8'),
      nowSeconds: Math.floor(Date.now() / 1000),
    });
    if (!valid) return { status: 401 };
    const event: unknown = JSON.parse(body.toString('utf8'));
    if (!conforms('WebhookEvent', event)) return { status: 400 };
    const received = events.get(event.id)?.received ?? {
      id: event.id,
      type: event.type,
      deliveryId,
      deliveries: 0,
    };
    received.deliveries++;
    events.set(event.id, { event, received });
    return { status: 204 };
  });
  const eventFor = (recordId: string) =>
    [...events.values()].filter(({ event }) => event.data.id === recordId);

  return {
    /** The URL to pass as `webhook_url`. */
    url: `https://${authority}/webhooks`,
    /** The verified event of a record; waits for it. Throws when two different ones arrive. */
    async eventFor(recordId: string): Promise<ReceivedEvent> {
      await server.until(() => eventFor(recordId).length > 0);
      const [only, second] = eventFor(recordId);
      if (only === undefined || second !== undefined)
        throw new Error(`${recordId} was announced by two events`);
      return only.received;
    },
    close: () => server.close(),
  };
}

async function listenWhereFree(
  state: Pick<StackState, 'ports' | 'authority'>,
  script: ReceiverScript,
): Promise<{ server: HttpsReceiver; authority: string }> {
  const issuer = await createCertificateAuthority(state.authority);
  for (const { authority, port } of receiverPlaces(state)) {
    try {
      const hostnames = [RECEIVER_HOST];
      return { server: await startHttpsReceiver({ hostnames, port, authority: issuer, script }), authority };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
  throw new Error(
    'the stack is in use by as many demos as can run at once: wait for one, or name another --root',
  );
}

export type EventReceiver = Awaited<ReturnType<typeof startEventReceiver>>;

function header(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
