import path from 'node:path';
import { createStack, type GpuWorkerPlan, provisionCustomer, REPOSITORY_ROOT } from '@lipsync/local-stack';
import { createCertificateAuthority } from '@lipsync/testkit';
import { type Credentials, type LoadTarget } from './deployment';
import {
  createEventLog,
  newRunToken,
  RECEIVER_BEHAVIORS,
  type ReceiverBehavior,
  receiverPath,
  startReceiver,
} from './receiver';

export interface LocalTargetOptions {
  /** An existing stack to use and leave as it was. Default: a new one, erased afterwards. */
  readonly root?: string;
  readonly customers: number;
  readonly gpuWorkers?: GpuWorkerPlan;
  readonly slowReceiverMs: number;
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
  const { root, gpuWorkers, slowReceiverMs, say } = options;
  const stackRoot = root ?? path.join(REPOSITORY_ROOT, '.local', `load-test-${process.pid}`);
  // An existing stack already trusts its own authority, so that runs do not each add one.
  const authority = await createCertificateAuthority(createStack({ root: stackRoot }).state()?.authority);
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
    slowMs: slowReceiverMs,
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
    if (state === null) throw new Error('the stack has no state');
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
