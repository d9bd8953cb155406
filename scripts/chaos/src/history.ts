import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** Times are milliseconds since the epoch; all processes and servers are on one machine. */
interface At {
  at: number;
}

/** A request of a client, with its answer if there was one. */
export interface Call extends At {
  kind: 'call';
  answeredAt: number;
  customer: number;
  /** Operation of the contract; `put_bytes` is the upload to the store. */
  op: string;
  /** Id in the path. */
  id?: string;
  /** Idempotency key. */
  key?: string;
  /** Identifies what the client wants to have once; part of the webhook URL. */
  nonce?: string;
  /** The body differs from that of the other requests with this key. */
  altered?: true;
  /** The record belongs to another customer. */
  foreign?: true;
  /** Null: no answer. */
  status: number | null;
  body: unknown;
}

/** A request to a webhook receiver. */
export interface Attempt extends At {
  kind: 'attempt';
  path: string;
  eventId: string;
  deliveryId: string;
  type: string;
  recordId: string;
  recordStatus: string;
  bodyDigest: string;
  isSigned: boolean;
  signedAt: number;
  /** The status that it was answered; null if the connection was reset or left hanging. */
  answered: number | null;
}

export interface FaultEntry extends At {
  kind: 'fault';
  name: string;
  target: string;
  phase: 'begin' | 'end' | 'skipped';
  /** Jobs that the victim was working on. */
  held?: { id: string; fence: number }[];
  why?: string;
}

interface ProcessEntry extends At {
  kind: 'process';
  name: string;
  what: 'ended' | 'started';
  /** Whether the suite ended it. */
  expected: boolean;
}

/** A call of the command that erases a customer. */
interface EraseEntry extends At {
  kind: 'erase';
  /** Null: it was killed. */
  exitCode: number | null;
  said: string;
}

export type Entry = Call | Attempt | FaultEntry | ProcessEntry | EraseEntry;
type Unstamped<E> = E extends At ? Omit<E, 'at'> & { at?: number } : never;

/** What happened, in memory for the checker and as JSON lines for people. */
export function openHistory(file: string) {
  const entries: Entry[] = [];
  const out = createWriteStream(file);
  return {
    entries,
    add: (entry: Unstamped<Entry>): void => {
      const stamped: Entry = { at: Date.now(), ...entry };
      entries.push(stamped);
      out.write(`${JSON.stringify(stamped)}\n`);
    },
    close: async () => {
      out.end();
      await finished(out);
    },
  };
}

export type History = ReturnType<typeof openHistory>;
