import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createStack, type GpuWorkerPlan, provisionCustomer, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { createCertificateAuthority } from '@lipsync/testkit';
import {
  createEventLog,
  type EventLog,
  newRunToken,
  RECEIVER_BEHAVIORS,
  type ReceiverBehavior,
  receiverPath,
  startReceiver,
} from './receiver';

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

interface Credentials {
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

interface DeploymentOptions {
  readonly baseUrl: string;
  readonly customers: readonly Credentials[];
  readonly webhooks: {
    /** HTTPS URL of the receiver; `{behavior}` in it is replaced with fast, slow, hanging or failing. */
    readonly publicUrl: string;
    readonly host: string;
    readonly port: number;
    /** PEM files; without them, something in front of the receiver must terminate TLS. */
    readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  } | null;
  readonly slowSeconds: number;
}

/** Connects to a running service. */
export async function openDeployment(options: DeploymentOptions): Promise<LoadTarget> {
  const { baseUrl, customers, webhooks, slowSeconds } = options;
  const log = createEventLog();
  const run = newRunToken();
  const receiver =
    webhooks &&
    (await startReceiver({
      host: webhooks.host,
      port: webhooks.port,
      tls: webhooks.tls && {
        cert: readFileSync(webhooks.tls.certFile, 'utf8'),
        key: readFileSync(webhooks.tls.keyFile, 'utf8'),
      },
      run,
      signingSecrets: customers.map(({ signingSecret }) => signingSecret),
      slowSeconds,
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
          webhooks.publicUrl.replaceAll('{behavior}', behavior),
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

interface LocalTargetOptions {
  /** An existing stack to use and leave as it was; undefined: a new one, erased afterwards. */
  readonly root: string | undefined;
  readonly customers: number;
  readonly gpuWorkers: GpuWorkerPlan | undefined;
  readonly slowSeconds: number;
  readonly say: (line: string) => void;
}

/** The service is being measured, not the limits of a single customer. */
const UNLIMITED = 100_000_000;
const LIMITS = {
  postPerMinute: UNLIMITED,
  getPerMinute: UNLIMITED,
  activeRecordsMax: UNLIMITED,
  runningJobsMax: UNLIMITED,
  openUploadsMax: UNLIMITED,
};

/** A slow or hanging receiver must not share an origin with the fast ones, as in production. */
const hostOf = (behavior: ReceiverBehavior): string => `${behavior}.load-test.example.test`;

/** A local stack, whose services reach the harness's receiver through egress routes. */
export async function openLocalTarget(options: LocalTargetOptions): Promise<LoadTarget> {
  const { root, gpuWorkers, slowSeconds, say } = options;
  const stackRoot = root ?? path.join(REPOSITORY_ROOT, '.local', `load-test-${process.pid}`);
  const before = createStack({ root: stackRoot });
  // An existing stack already trusts its own authority, so that runs do not each add one.
  const known = before.describe() === null ? undefined : before.state().authority;
  const authority = await createCertificateAuthority(known);
  const hosts = RECEIVER_BEHAVIORS.map(hostOf);
  const customers: Credentials[] = [];
  const signingSecrets: (string | null)[] = [];
  const log = createEventLog();
  const run = newRunToken();
  const tls = await authority.issue(hosts);
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    tls,
    run,
    signingSecrets,
    slowSeconds,
    log,
  });
  const stack = createStack({
    root: stackRoot,
    egressRoutes: hosts.map((host) => `${host}:443=127.0.0.1:${receiver.port}`),
    egressCa: authority.cert,
    ...(gpuWorkers === undefined ? {} : { gpuWorkers }),
  });
  const wasUp = stack.describe()?.services.some(({ pid }) => pid !== null) ?? false;

  async function close(): Promise<void> {
    await receiver.close();
    if (wasUp) return;
    say('Stopping the stack …');
    await stack.down();
    if (root === undefined) stack.erase();
  }

  try {
    say('Starting the local stack …');
    const { base_url: baseUrl } = await stack.up();
    const state = stack.state();
    for (let i = 0; i < options.customers; i++) {
      const customer = await provisionCustomer(state, `load-test-${i}`, LIMITS);
      customers.push({ apiKey: customer.api_key, signingSecret: customer.signing_secret });
      signingSecrets.push(customer.signing_secret);
    }
    const workers = gpuWorkers?.count ?? 1;
    return {
      baseUrl,
      description: `a local stack with ${workers} gpu-worker${workers === 1 ? '' : 's'}`,
      customers,
      webhooks: {
        log,
        url: (customer, behavior) => `https://${hostOf(behavior)}${receiverPath(run, customer, behavior)}`,
        verifiesSignatures: true,
      },
      isLocal: true,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
