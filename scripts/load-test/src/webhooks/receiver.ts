import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { conforms } from '@lipsync/contract';
import { verifyWebhookSignature } from '@lipsync/domain';
import { isReceiverBehaviour, reactionTo, type ReceiverBehaviour } from './behaviour';
import { type EventLog } from './event-log';

export interface ReceiverOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** PEM; without it the receiver speaks plain HTTP, for a proxy or tunnel in front of it that terminates TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Distinguishes this run's events from another's late ones. */
  readonly run: string;
  /** By customer, hexadecimal; null if signatures cannot be checked. */
  readonly signingSecrets: readonly (string | null)[];
  readonly slowMs: number;
  readonly log: EventLog;
}

export interface Receiver {
  readonly port: number;
  close(): Promise<void>;
}

/** Larger than any event of the contract. */
const BODY_MAX_BYTES = 256 * 1024;

/**
 * The receiving side of the contract: verifies the raw bytes, then parses, then deduplicates; and misbehaves as
 * configured.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
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
      new Promise((resolve) => {
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
  const { log, run, signingSecrets, slowMs } = options;
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
    log.forged();
    response.writeHead(401).end();
    return;
  }
  const event = parseJson(body);
  if (!conforms('WebhookEvent', event) || header(request, 'svc-event-id') !== event.id) {
    log.malformed();
    response.writeHead(400).end();
    return;
  }
  const logged = log.arrived(event, deliveryId, target.behaviour, arrivedAtMs);
  switch (reactionTo(target.behaviour, logged.attempts)) {
    case 'hang':
      return;
    case 'refuse':
      response.writeHead(500).end();
      return;
    case 'answer-late':
      await delay(slowMs);
      break;
    case 'answer':
      break;
  }
  logged.acknowledged = true;
  response.writeHead(204).end();
}

/** Part of every webhook URL of a run. */
export function newRunToken(): string {
  return randomBytes(6).toString('hex');
}

/** The path for a customer's events: it identifies the customer and the behaviour. */
export function receiverPath(run: string, customer: number, behaviour: ReceiverBehaviour): string {
  return `/${run}/${customer}/${behaviour}`;
}

interface Destination {
  readonly run: string;
  readonly customer: number;
  readonly behaviour: ReceiverBehaviour;
}

/** Reads the end of a path, because a proxy in front may have prepended its own. */
function destinationOf(url: string): Destination | null {
  const [, run = '', customer, behaviour = ''] = /\/([0-9a-f]{12})\/(\d{1,4})\/([a-z]+)\/?$/.exec(url) ?? [];
  return customer !== undefined && isReceiverBehaviour(behaviour)
    ? { run, customer: Number(customer), behaviour }
    : null;
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

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function header(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}
