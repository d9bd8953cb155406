import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import {
  type ApiClient,
  createApiClient,
  createStack,
  provisionCustomer,
  REPOSITORY_ROOT,
  type Stack,
  type StackCustomer,
  type StackDescription,
  untilInterrupted,
} from '@lipsync/local-stack';
import { eventually, expectContract, listenOnLoopback } from '@lipsync/testkit';

/** What a corpus found. */
export interface CorpusResult {
  /** Inputs that were offered. */
  tried: number;
  /** How often each outcome occurred. */
  outcomes: Record<string, number>;
  /** What must never happen, and did; with what it takes to repeat it. */
  violations: string[];
  /** Further measurements. */
  facts?: Record<string, number | string>;
}

/** A customer of the stack with a client whose every answer is checked against the contract. */
export interface Caller extends StackCustomer {
  api: ApiClient;
}

/** A local stack of its own, with canaries. */
export interface TestBed {
  stack: Stack;
  description: StackDescription;
  attacker: Caller;
  /** Another customer, of whom the attacker must learn nothing and whom it must not slow down. */
  victim: Caller;
  /** A port on loopback at which nothing may ever connect. */
  canaryPort: number;
  /** Says what the canaries have seen since the last call: contacts, secrets in logs, services that ended. */
  newAlarms: () => string[];
  /** A text that no log may contain; for bodies, headers and queries. */
  marker: string;
  /** Parts of a text that no caller may see: keys, secrets, passwords. */
  secretsIn: (text: string) => string[];
  stop: () => Promise<void>;
}

/** So high that the corpora meet what lies behind the limits as well. */
const LIMITS = {
  postPerMinute: 10_000_000,
  getPerMinute: 10_000_000,
  activeRecordsMax: 300,
  openUploadsMax: 1_000,
};

/** Three attempts with their pauses and timeouts, behind each other, on a busy machine. */
const END_DEADLINE_MS = 150_000;

export async function startTestBed(egress: { egressRoutes: string[]; egressCa: string }): Promise<TestBed> {
  const folder = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const stack = createStack({
    root: path.join(REPOSITORY_ROOT, '.local', 'corpora', folder),
    ...egress,
    // A silent origin must be given up soon, and each request may come from another address.
    serviceEnv: { DOWNLOAD_TIMEOUT_SECONDS: '6', MEDIA_SLOTS: '4', TRUSTED_PROXY_HOPS: '1' },
  });
  const stop = async (): Promise<void> => {
    await stack.down();
    stack.erase();
  };
  const description = await untilInterrupted(stack.up()).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  const state = stack.state();
  if (state === null) throw new Error('the stack has no state');
  const caller = async (name: string): Promise<Caller> => {
    const customer = await provisionCustomer(state, name, LIMITS);
    const options = { baseUrl: description.base_url, apiKey: customer.api_key, onAnswer: expectContract };
    return { ...customer, api: createApiClient(options) };
  };
  const [attacker, victim] = [await caller('attacker'), await caller('victim')];
  const canary = await startCanary();

  const marker = `marker${randomBytes(12).toString('hex')}`;
  const customers = [...state.customers, attacker, victim];
  const secrets = {
    'the master key': state.masterKey,
    "the database's password": new URL(description.postgres_url).password,
    ...namedSecrets("the store's", state.s3),
    ...Object.fromEntries(
      customers.flatMap((customer) => Object.entries(namedSecrets(customer.id, customer))),
    ),
  };
  const secretsIn = (text: string): string[] =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      secret !== '' && text.includes(secret) ? [name] : [],
    );
  const pids = new Map(description.services.map(({ name, pid }) => [name, pid]));

  const told = new Set<string>();
  const currentAlarms = (): string[] => [
    ...canary.contacts(),
    ...readdirSync(description.logs_dir).flatMap((file) => {
      const log = readFileSync(path.join(description.logs_dir, file), 'utf8');
      const found = [...secretsIn(log), ...(log.includes(marker) ? ['the marker of what callers send'] : [])];
      return found.map((name) => `${file} contains ${name}`);
    }),
    ...[...pids].flatMap(([name, pid]) =>
      stack.findPid(name) === pid ? [] : [`${name} has ended or was restarted`],
    ),
  ];

  return {
    stack,
    description,
    attacker,
    victim,
    canaryPort: canary.port,
    marker,
    secretsIn,
    newAlarms: () => {
      const alarms = currentAlarms().filter((alarm) => !told.has(alarm));
      for (const alarm of alarms) told.add(alarm);
      return alarms;
    },
    stop: async () => {
      await canary.close();
      await stop();
    },
  };
}

/** The properties of settings that hold secrets, by a name for people. */
function namedSecrets(owner: string, settings: object): Record<string, string> {
  const entries = Object.entries(settings).map(
    ([name, value]) => [`${owner} ${name}`, String(value)] as const,
  );
  return Object.fromEntries(entries.filter(([name]) => /secret|api_key/i.test(name)));
}

/** Listens on a free port and, where the system lets it, on 443, the only port at which media may be. */
async function startCanary() {
  const contacts: string[] = [];
  const listen = async (port: number): Promise<{ server: Server; port: number }> => {
    const server = createServer((socket) => {
      contacts.push(`something connected to port ${socket.localPort} of ${socket.localAddress}`);
      socket.destroy();
    });
    return { server, port: await listenOnLoopback(server, port) };
  };
  const any = await listen(0);
  const https = await listen(443).catch(() => null);
  return {
    port: any.port,
    contacts: () => contacts,
    close: async () => {
      for (const { server } of [any, https ?? any]) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Null if the resource is not at its end in time: no trouble may hold the service for longer. */
export async function ended<T>(read: () => Promise<T>, isEnded: (resource: T) => boolean): Promise<T | null> {
  return eventually(
    async () => {
      const resource = await read();
      if (!isEnded(resource)) throw new Error('not yet');
      return resource;
    },
    { deadlineMs: END_DEADLINE_MS },
  ).catch(() => null);
}

/** The outcome of a resource that `ended` has given up. */
export const NEVER = 'never ended';
