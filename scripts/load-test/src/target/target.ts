import { type ReceiverBehaviour } from '../webhooks/behaviour';
import { type EventLog } from '../webhooks/event-log';

export interface Credentials {
  readonly apiKey: string;
  /** Hexadecimal; null if signatures cannot be checked. */
  readonly signingSecret: string | null;
}

/** Where events are sent, and what has arrived there. */
export interface WebhookSink {
  readonly log: EventLog;
  /** The URL to pass as webhook_url. */
  url(customer: number, behaviour: ReceiverBehaviour): string;
  readonly verifiesSignatures: boolean;
}

/** The service under load, and how the harness reaches it. */
export interface LoadTarget {
  readonly baseUrl: string;
  /** What runs there, as far as the harness knows; for the report. */
  readonly description: string;
  readonly customers: readonly Credentials[];
  /** Null when events cannot reach the harness. */
  readonly webhooks: WebhookSink | null;
  /** Whether the service shares this machine with the harness. */
  readonly isLocal: boolean;
  close(): Promise<void>;
}
