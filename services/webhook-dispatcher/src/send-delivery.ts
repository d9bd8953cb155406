import { type ClaimedDelivery, type DeliveryOutcome } from '@lipsync/db';
import { signatureHeader, WEBHOOK_TIMEOUT_SECONDS } from '@lipsync/domain';
import { type Clock, type Egress, EgressError, type SecretBox } from '@lipsync/runtime';
import { outcomeOfAnswer, outcomeOfError } from './attempt-outcome';

export interface SendDependencies {
  egress: Pick<Egress, 'post'>;
  secretBox: Pick<SecretBox, 'open'>;
  clock: Clock;
  /** Time limit of a whole attempt; 15 s by default. */
  timeoutMs?: number;
}

export interface Attempt {
  readonly outcome: DeliveryOutcome;
  /** Why there was no response, for the log: the outcome tells the customer only the class of failure. */
  readonly error?: EgressError;
}

const USER_AGENT = 'lipsync-service-webhooks/1.0';

/**
 * One attempt: signs the stored bytes with the current time and posts them. Resolves with the outcome. Throws only for
 * faults on this side (no secret, or one that cannot be decrypted): they must not count against the receiver.
 */
export async function sendDelivery(
  { egress, secretBox, clock, timeoutMs = WEBHOOK_TIMEOUT_SECONDS * 1000 }: SendDependencies,
  delivery: ClaimedDelivery,
): Promise<Attempt> {
  if (delivery.secret === null) throw new Error('the customer has no webhook secret');
  const secretHex = secretBox.open(delivery.secret, delivery.customerId);
  const body = Buffer.from(delivery.body, 'utf8');
  const signedAtSeconds = Math.floor(clock.now() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'Svc-Event-ID': delivery.eventId,
    'Svc-Delivery-ID': delivery.id,
    'Svc-Signature': signatureHeader(secretHex, signedAtSeconds, delivery.id, body),
  };
  try {
    const answer = await egress.post(delivery.url, { headers, body, deadlineMs: timeoutMs });
    return { outcome: outcomeOfAnswer(answer, clock.now()) };
  } catch (error) {
    if (error instanceof EgressError) return { outcome: outcomeOfError(error.reason), error };
    throw error;
  }
}
