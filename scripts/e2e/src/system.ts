import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  type ApiClient,
  createApiClient,
  createStack,
  type EventReceiver,
  type ExternalServers,
  provisionCustomer,
  REPOSITORY_ROOT,
  type Stack,
  type StackCustomer,
  type StackDescription,
  startEventReceiver,
} from '@lipsync/local-stack';
import { eventually, expectContract } from '@lipsync/testkit';

/**
 * Tests poll every 20 ms, which no customer should. With the service's default limits, a test that waits for half a
 * minute would be refused for the rest of it, and miss short-lived states.
 */
const LIMITS = { postPerMinute: 1_000_000, getPerMinute: 1_000_000 };

/** A separate stack for one test file, with clients for two customers and a receiver for the first. */
export interface System {
  stack: Stack;
  description: StackDescription;
  customer: StackCustomer;
  api: ApiClient;
  otherApi: ApiClient;
  receiver: EventReceiver;
  /** Restarts the services that were killed. */
  up: () => Promise<StackDescription>;
  stop: () => Promise<void>;
}

export async function startSystem(
  name: string,
  options: {
    egressRoutes?: string[];
    egressCa?: string;
    serviceEnv?: Record<string, string>;
    servers?: ExternalServers;
    /** Where clients reach the api, if not directly. */
    publicUrl?: string;
  } = {},
): Promise<System> {
  // An earlier process with this pid may have left a folder behind when it was killed.
  const folder = `${name}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const stack = createStack({
    root: path.join(REPOSITORY_ROOT, '.local', 'e2e', folder),
    ...options,
  });
  const description = await stack.up();
  const state = stack.state();
  if (state === null) throw new Error('the stack has no state');
  const customer = await provisionCustomer(state, 'e2e-one', LIMITS);
  const other = await provisionCustomer(state, 'e2e-two', LIMITS);
  const client = ({ api_key }: StackCustomer) =>
    createApiClient({
      baseUrl: options.publicUrl ?? description.base_url,
      apiKey: api_key,
      onAnswer: expectContract,
    });
  const receiver = await startEventReceiver(state, customer.signing_secret);
  return {
    stack,
    description,
    customer,
    api: client(customer),
    otherApi: client(other),
    receiver,
    up: stack.up,
    stop: async () => {
      await receiver.close();
      await stack.down();
      stack.erase();
    },
  };
}

/** Ends a process without warning, like an out-of-memory kill or a lost node. */
export async function killHard({ stack }: System, service: string): Promise<void> {
  const pid = stack.findPid(service);
  if (pid === null) throw new Error(`${service} does not run`);
  process.kill(pid, 'SIGKILL');
  // The signal is on its way; until the process is gone, it would count as running.
  await eventually(async () => {
    if (stack.findPid(service) === pid) throw new Error(`${service} still runs`);
  });
}
