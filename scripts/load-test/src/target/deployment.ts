import { readFileSync } from 'node:fs';
import { createEventLog } from '../webhooks/event-log';
import { newRunToken, type Receiver, receiverPath, startReceiver } from '../webhooks/receiver';
import { type Credentials, type LoadTarget } from './target';

export interface WebhookSettings {
  /** Public HTTPS URL of the receiver; `{behaviour}` in it is replaced with fast, slow, hanging or failing. */
  readonly publicUrl: string;
  readonly host: string;
  readonly port: number;
  /** PEM files; without them, something in front of the receiver must terminate TLS. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

export interface DeploymentOptions {
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
      url: (customer, behaviour) =>
        publicAddress(
          webhooks.publicUrl.replaceAll('{behaviour}', behaviour),
          receiverPath(run, customer, behaviour),
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
