import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { ApiError, LipSync, type PreparationRecord, type RenderRecord } from '@lipsync/client';
import { type Asset, type ErrorBody, type ErrorCode } from '@lipsync/contract';
import {
  adminEnvironment,
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
import {
  contractFetch,
  createCertificateAuthority,
  eventually,
  type HttpsReceiver,
  type OtlpCollector,
  type ReceiverScript,
  startHttpsReceiver,
  startOtlpCollector,
} from '@lipsync/testkit';
import { SHARED_HOSTS, type SharedHost, sharedStack } from './shared-stack';

/**
 * Tests poll every 20 ms, which no customer should. With the service's default limits, a test that waits for half a
 * minute would be refused for the rest of it, and miss short-lived states.
 */
const LIMITS = { postPerMinute: 1_000_000, getPerMinute: 1_000_000 };

/** A stack with clients for two customers of one test file and a receiver for the first. */
export interface System {
  stack: Stack;
  description: StackDescription;
  customer: StackCustomer;
  api: LipSync;
  otherApi: LipSync;
  receiver: EventReceiver;
  /** Restarts the services that were killed. */
  up: () => Promise<StackDescription>;
  stop: () => Promise<void>;
}

/** A stack of its own, which the tests may damage. */
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
  const stack = createStack({ root: path.join(REPOSITORY_ROOT, '.local', 'e2e', folder), ...options });
  const system = await useStack(stack, options.publicUrl);
  return {
    ...system,
    stop: async () => {
      await system.stop();
      await stack.down();
      stack.erase();
    },
  };
}

/** Two customers and a receiver on a stack, which it starts unless it runs; `stop` leaves it running. */
async function useStack(stack: Stack, publicUrl?: string): Promise<System> {
  const description = await stack.up();
  const state = stack.state();
  const customer = await provisionCustomer(state, 'e2e-one', LIMITS);
  const other = await provisionCustomer(state, 'e2e-two', LIMITS);
  const client = ({ api_key: apiKey }: StackCustomer) =>
    createClient(publicUrl ?? description.base_url, apiKey);
  const receiver = await startEventReceiver(state, customer.signing_secret);
  return {
    stack,
    description,
    customer,
    api: client(customer),
    otherApi: client(other),
    receiver,
    up: stack.up,
    stop: () => receiver.close(),
  };
}

/** A customer's client that checks every answer, and repeats nothing: a test is to see what happened. */
export function createClient(baseUrl: string, apiKey: string): LipSync {
  return new LipSync({ baseUrl, apiKey, fetch: contractFetch, maxRetries: 0 });
}

export interface SharedSystem extends System {
  /** Answers for a host at which the shared stack finds media and webhooks, until it is closed. */
  receive: (host: SharedHost, script?: ReceiverScript) => Promise<HttpsReceiver>;
  /** Receives the spans of traces that their callers sample, until it is closed. */
  collect: () => Promise<OtlpCollector>;
}

/** The run's one stack for tests that damage nothing. The first caller starts it, globalTeardown stops it. */
export async function shareSystem(): Promise<SharedSystem> {
  const { root, packs, ports } = sharedStack();
  const stack = createStack({
    root,
    egressRoutes: SHARED_HOSTS.map((host) => `${host}:443=127.0.0.1:${ports[host]}`),
    serviceEnv: {
      MODEL_PACKS_DIR: packs,
      // One attempt and one retry, due at once.
      WEBHOOK_RETRY_SCHEDULE_SECONDS: '0',
      // Only the command purges.
      PURGE_INTERVAL_SECONDS: '3600',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${ports.collector}`,
      // Most of the time nobody collects.
      OTEL_TRACES_SAMPLER_ARG: '0',
    },
  });
  const system = await useStack(stack);
  const authority = await createCertificateAuthority(stack.state().authority);
  return {
    ...system,
    receive: (host, script) =>
      startHttpsReceiver({ hostnames: [host], port: ports[host], authority, ...(script && { script }) }),
    collect: () => startOtlpCollector(ports.collector),
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

/** Does the work while a process of the stack stands still: what needs that process cannot end before. */
export async function whileStopped<T>({ stack }: System, name: string, work: () => Promise<T>): Promise<T> {
  const pid = stack.findPid(name);
  if (pid === null) throw new Error(`${name} does not run`);
  process.kill(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

const ADMIN_COMMAND = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'admin.js');

interface CommandOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** The admin command as an operator runs it: a separate process that knows the system only from its environment. */
export function createAdmin({ stack }: System) {
  const env = { PATH: process.env['PATH'] ?? '', ...adminEnvironment(stack.state()) };

  const run = (...args: string[]): Promise<CommandOutcome> =>
    new Promise((resolve) => {
      execFile(process.execPath, [ADMIN_COMMAND, ...args], { env }, (error, stdout, stderr) => {
        resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });

  async function succeed(args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(...args);
    if (exitCode !== 0) throw new Error(`admin ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    return stdout;
  }

  return {
    run,
    /** The command's text output. */
    text: (...args: string[]) => succeed(args),
    /** The one JSON value that it prints with --json. */
    json: async <T>(...args: string[]): Promise<T> => JSON.parse(await succeed([...args, '--json'])) as T,
  };
}

export type Admin = ReturnType<typeof createAdmin>;

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/**
 * Polls until the render is terminal; checks that its progress never falls and that every response conforms to the
 * contract.
 */
export async function awaitRender(api: LipSync, id: string): Promise<RenderRecord> {
  const progress: number[] = [];
  const ended = await eventually(async () => {
    const record = await api.renders.get(id);
    progress.push(record.progress_percent);
    expect(TERMINAL).toContain(record.status);
    return record;
  });
  // Not checked while polling, because a failure there would only be retried.
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  return ended;
}

export function awaitPreparation(api: LipSync, id: string): Promise<PreparationRecord> {
  return eventually(async () => {
    const record = await api.preparations.get(id);
    expect(TERMINAL).toContain(record.status);
    return record;
  });
}

export function awaitAsset(api: LipSync, id: string): Promise<Asset> {
  return eventually(async () => {
    const asset = await api.assets.get(id);
    expect(['ready', 'failed']).toContain(asset.status);
    return asset;
  });
}

/** Expects a call to be refused with this status and code. Returns the error object, to compare it with another. */
export async function expectRefusal(
  call: Promise<unknown>,
  status: number,
  code: ErrorCode,
): Promise<ErrorBody> {
  const outcome: unknown = await call.then(
    () => 'accepted',
    (error: unknown) => error,
  );
  if (!(outcome instanceof ApiError)) throw new Error(`not refused: ${String(outcome)}`);
  expect({ status: outcome.status, code: outcome.code }).toEqual({ status, code });
  return { code, message: outcome.message, retryable: outcome.retryable };
}
