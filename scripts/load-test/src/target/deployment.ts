import { readFileSync } from 'node:fs';
import {
  createEventLog,
  type EventLog,
  newRunToken,
  type Receiver,
  type ReceiverBehavior,
  receiverPath,
  startReceiver,
} from './receiver';

interface WebhookSettings {
  /** Public HTTPS URL of the receiver; `{behaviour}` in it is replaced with fast, slow, hanging or failing. */
  readonly publicUrl: string;
  readonly host: string;
  readonly port: number;
  /** PEM files; without them, something in front of the receiver must terminate TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

interface DeploymentOptions {
  readonly baseUrl: string;
  readonly customers: readonly Credentials[];
  readonly webhooks: WebhookSettings | null;
  readonly slowReceiverMs: number;
}

/** Connects to a running service. */
export async function openDeployment(options: DeploymentOptions): Promise<LoadTarget> {
  const { baseUrl, customers, webhooks } = options;
  const log = createEventLog();
  const run = newRunToken();
  const receiver: Receiver | null =
    webhooks &&
    (await startReceiver({
      host: webhooks.host,
      port: webhooks.port,
      ...(webhooks.tls && {
        tls: {
          cert: readFileSync(webhooks.tls.certFile, 'utf8'),
          key: readFileSync(webhooks.tls.keyFile, 'utf8'),
        },
      }),
      run,
      signingSecrets: customers.map(({ signingSecret }) => signingSecret),
      slowMs: options.slowReceiverMs,
      log,
    }));
  return {
    baseUrl,
    description: `the deployment at ${new URL(baseUrl).host}`,
    customers,
    webhooks: webhooks && {
      log,
      url: (customer, behavior) =>
        publicAddress(
          webhooks.publicUrl.replaceAll('{behaviour}', behavior),
          receiverPath(run, customer, behavior),
        ),
      verifiesSignatures: customers.every(({ signingSecret }) => signingSecret !== null),
    },
    isLocal: false,
    close: async () => receiver?.close(),
  };
}

function publicAddress(base: string, receiver: string): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, '') + receiver;
  return url.toString();
}

export interface Credentials {
  readonly apiKey: string;
  /** Hexadecimal; null if signatures cannot be checked. */
  readonly signingSecret: string | null;
}

/** Where events are sent, and what has arrived there. */
export interface WebhookSink {
  readonly log: EventLog;
  /** The URL to pass as webhook_url. */
  url(customer: number, behavior: ReceiverBehavior): string;
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
