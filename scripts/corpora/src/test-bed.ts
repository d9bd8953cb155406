import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { LipSync } from '@lipsync/client';
import {
  createStack,
  leaksIn,
  leaksInLogs,
  provisionCustomer,
  REPOSITORY_ROOT,
  secretsOf,
  type Stack,
  type StackCustomer,
  type StackDescription,
  untilInterrupted,
} from '@lipsync/local-stack';
import { contractFetch, eventually, listenOnLoopback } from '@lipsync/testkit';

/** What a corpus found. */
export interface CorpusResult {
  /** How often each outcome occurred. */
  outcomes: Record<string, number>;
  /** What must never happen, and did; with what it takes to repeat it. */
  violations: string[];
  /** Further measurements. */
  facts?: Record<string, number | string>;
}

/** A result to begin with, and how to add what became of an input. */
export function createTally() {
  const result: CorpusResult = { outcomes: {}, violations: [] };
  const count = (outcome: string): void => {
    result.outcomes[outcome] = (result.outcomes[outcome] ?? 0) + 1;
  };
  return {
    result,
    count,
    expectOutcome: (input: string, outcome: string, expected: readonly string[]): void => {
      count(outcome);
      if (!expected.includes(outcome))
        result.violations.push(`${input}: ${outcome} and not ${expected.join(' or ')}`);
    },
  };
}

/** A customer of the stack with a client whose every answer is checked against the contract. */
export interface Caller extends StackCustomer {
  api: LipSync;
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
  const caller = async (name: string): Promise<Caller> => {
    const customer = await provisionCustomer(state, name, LIMITS);
    const options = { baseUrl: description.base_url, apiKey: customer.api_key };
    return { ...customer, api: new LipSync({ ...options, fetch: contractFetch, maxRetries: 0 }) };
  };
  const [attacker, victim] = [await caller('attacker'), await caller('victim')];
  const canary = await startCanary();

  const marker = `marker${randomBytes(12).toString('hex')}`;
  const secrets = secretsOf(state, [...state.customers, attacker, victim]);
  const pids = new Map(description.services.map(({ name, pid }) => [name, pid]));

  const told = new Set<string>();
  const currentAlarms = (): string[] => [
    ...canary.contacts(),
    ...leaksInLogs(description.logs_dir, { ...secrets, 'the marker of what callers send': marker }),
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
    secretsIn: (text) => leaksIn(text, secrets),
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

const OPEN = ['pending', 'accepted', 'processing'];

interface Resource {
  status?: string | undefined;
  error?: { code: string };
  /** A webhook has it after its first attempt. */
  last_error?: string;
}

/** What a resource comes to, in a word: its error, or else its status. No trouble may hold the service forever. */
export async function endOf(read: () => Promise<Resource>): Promise<string> {
  return eventually(
    async () => {
      const { status, error, last_error } = await read();
      const end = error?.code ?? last_error ?? status;
      if (end === undefined || OPEN.includes(end)) throw new Error('not yet');
      return end;
    },
    { deadlineMs: END_DEADLINE_MS },
  ).catch(() => 'never ended');
}
