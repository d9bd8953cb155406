import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { conforms, type RecordStatus, type WebhookEvent } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import { parseJson } from '../callers/http-client';

interface ReceiverOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** PEM; without it the receiver speaks plain HTTP, for a proxy or tunnel in front of it that terminates TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Distinguishes this run's events from another's late ones. */
  readonly run: string;
  /** By customer, hexadecimal; null if signatures cannot be checked. */
  readonly signingSecrets: readonly (string | null)[];
  readonly slowSeconds: number;
  readonly log: EventLog;
}

/** Larger than any event of the contract. */
const BODY_MAX_BYTES = 256 * 1024;

/**
 * The receiving side of the contract: verifies the raw bytes, then parses, then deduplicates; and misbehaves as
 * configured.
 */
export async function startReceiver(options: ReceiverOptions) {
  const { host, port, tls } = options;
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response, options).catch(() => response.destroy());
  };
  const server = tls === undefined ? createHttpServer(receive) : createHttpsServer(tls, receive);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
): Promise<void> {
  const { log, run, signingSecrets, slowSeconds } = options;
  const arrivedAtMs = Date.now();
  const target = destinationOf(request.url ?? '');
  const body = await readBody(request);
  if (target !== null && target.run !== run) {
    // A refusal would make the service send it to this run again and again.
    response.writeHead(204).end();
    return;
  }
  if (target === null || target.customer >= signingSecrets.length || body === null) {
    response.writeHead(404).end();
    return;
  }
  const deliveryId = header(request, 'svc-delivery-id');
  const secretHex = signingSecrets[target.customer] ?? null;
  const isGenuine =
    secretHex === null ||
    verifyWebhookSignature({
      secretHex,
      header: header(request, 'svc-signature'),
      deliveryId,
      body,
      nowSeconds: arrivedAtMs / 1000,
    });
  if (!isGenuine) {
    log.forgedAttempts++;
    response.writeHead(401).end();
    return;
  }
  const event = parseJson(body);
  if (!conforms('WebhookEvent', event) || header(request, 'svc-event-id') !== event.id) {
    log.malformedAttempts++;
    response.writeHead(400).end();
    return;
  }
  const logged = log.arrived(event, target.behavior, arrivedAtMs);
  const isFirst = logged.attempts === 1;
  if (isFirst && target.behavior === 'hanging') return;
  if (isFirst && target.behavior === 'failing') {
    response.writeHead(500).end();
    return;
  }
  if (target.behavior === 'slow') await delay(slowSeconds * 1000);
  logged.acknowledged = true;
  response.writeHead(204).end();
}

/** Part of every webhook URL of a run. */
export function newRunToken(): string {
  return randomBytes(6).toString('hex');
}

/** The path for a customer's events: it identifies the customer and the behavior. */
export function receiverPath(run: string, customer: number, behavior: ReceiverBehavior): string {
  return `/${run}/${customer}/${behavior}`;
}

/** Reads the end of a path, because a proxy in front may have prepended its own. */
function destinationOf(url: string) {
  const [, run = '', customer, behavior] = /\/([0-9a-f]{12})\/(\d{1,4})\/([a-z]+)\/?$/.exec(url) ?? [];
  const found = RECEIVER_BEHAVIORS.find((name) => name === behavior);
  return customer === undefined || found === undefined
    ? null
    : { run, customer: Number(customer), behavior: found };
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

/**
 * How a receiver treats its events.
 * - `fast`: answers at once
 * - `slow`: answers after a delay
 * - `hanging`: never answers the first attempt, and the next ones at once
 * - `failing`: answers the first attempt with 500, and the next ones correctly
 */
export const RECEIVER_BEHAVIORS = ['fast', 'slow', 'hanging', 'failing'] as const;
export type ReceiverBehavior = (typeof RECEIVER_BEHAVIORS)[number];

/** What the harness remembers of a delivered event. */
export interface LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly recordId: string;
  readonly status: RecordStatus;
  readonly behavior: ReceiverBehavior;
  /** Epoch milliseconds on the service's clock. */
  readonly createdAt: number;
  /** Epoch milliseconds on the harness's clock. */
  readonly firstAt: number;
  attempts: number;
  /** Whether an attempt was answered with success; no other should follow. */
  acknowledged: boolean;
  /** Attempts after an acknowledged one: at-least-once delivery permits them, and a receiver deduplicates. */
  redeliveries: number;
}

/** The events of a run, and the attempts that were none. */
export function createEventLog() {
  const events = new Map<string, LoggedEvent>();
  const byRecord = new Map<string, LoggedEvent[]>();
  return {
    /** An attempt whose signature was valid (or could not be checked). */
    arrived(event: WebhookEvent, behavior: ReceiverBehavior, atMs: number): LoggedEvent {
      const known = events.get(event.id);
      if (known !== undefined) {
        known.attempts++;
        if (known.acknowledged) known.redeliveries++;
        return known;
      }
      const logged: LoggedEvent = {
        id: event.id,
        type: event.type,
        recordId: event.data.id,
        status: event.data.status,
        behavior,
        createdAt: Date.parse(event.created_at),
        firstAt: atMs,
        attempts: 1,
        acknowledged: false,
        redeliveries: 0,
      };
      events.set(event.id, logged);
      byRecord.set(logged.recordId, [...(byRecord.get(logged.recordId) ?? []), logged]);
      return logged;
    },
    /** Whose signature was invalid. */
    forgedAttempts: 0,
    /** Whose body is not an event of the contract. */
    malformedAttempts: 0,
    events: events as ReadonlyMap<string, LoggedEvent>,
    eventsOf: (recordId: string): readonly LoggedEvent[] => byRecord.get(recordId) ?? [],
  };
}

export type EventLog = ReturnType<typeof createEventLog>;
