import { type RecordStatus, type WebhookEvent } from '@lipsync/contract';
import { type ReceiverBehaviour } from './behaviour';

/** What the harness remembers of a delivered event. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly recordId: string;
  readonly status: RecordStatus;
  readonly deliveryId: string;
  readonly behaviour: ReceiverBehaviour;
  /** Epoch milliseconds on the service's clock. */
  readonly createdAt: number;
  /** Epoch milliseconds on the harness's clock. */
  readonly firstAt: number;
  attempts: number;
  /** Whether an attempt was answered with success; no other should follow. */
  acknowledged: boolean;
  /** Attempts after an acknowledged one: at-least-once delivery permits them, and a receiver deduplicates. */
  redeliveries: number;
}

export interface EventLog {
  /** An attempt whose signature was valid (or could not be checked). */
  arrived(event: WebhookEvent, deliveryId: string, behaviour: ReceiverBehaviour, atMs: number): LoggedEvent;
  /** An attempt whose signature was invalid. */
  forged(): void;
  /** An attempt whose body is not an event of the contract. */
  malformed(): void;
  readonly events: ReadonlyMap<string, LoggedEvent>;
  eventsOf(recordId: string): readonly LoggedEvent[];
  readonly forgedAttempts: number;
  readonly malformedAttempts: number;
  readonly attempts: number;
}

export function createEventLog(): EventLog {
  const events = new Map<string, LoggedEvent>();
  const byRecord = new Map<string, LoggedEvent[]>();
  let forgedAttempts = 0;
  let malformedAttempts = 0;
  let attempts = 0;
  return {
    arrived(event, deliveryId, behaviour, atMs) {
      attempts++;
      const known = events.get(event.id);
      if (known !== undefined) {
        known.attempts++;
        if (known.acknowledged) known.redeliveries++;
        return known;
      }
      const logged: LoggedEvent = {
        id: event.id,
        type: event.type,
        recordId: event.data.id,
        status: event.data.status,
        deliveryId,
        behaviour,
        createdAt: Date.parse(event.created_at),
        firstAt: atMs,
        attempts: 1,
        acknowledged: false,
        redeliveries: 0,
      };
      events.set(event.id, logged);
      byRecord.set(logged.recordId, [...(byRecord.get(logged.recordId) ?? []), logged]);
      return logged;
    },
    forged: () => void forgedAttempts++,
    malformed: () => void malformedAttempts++,
    events,
    eventsOf: (recordId) => byRecord.get(recordId) ?? [],
    get forgedAttempts() {
      return forgedAttempts;
    },
    get malformedAttempts() {
      return malformedAttempts;
    },
    get attempts() {
      return attempts;
    },
  };
}
