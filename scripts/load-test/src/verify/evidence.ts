import { type RecordResource, type RecordStatus } from '@lipsync/contract';
import { ASSET_STATES } from '@lipsync/domain';
import { type Customer } from '../callers/journeys';
import { type Clock } from '../callers/open-loop';
import { ask } from '../callers/service-client';
import { type LoadTestConfig } from '../config';
import { type WebhookSink } from '../target/load-target';
import { type LoggedEvent } from '../target/receiver';
import { type Ledger, type ReplayMismatch, type TrackedRender } from '../track/ledger';
import { type AnswerCounts } from '../track/outcome';

/** A render as get_render showed it at the very end. */
interface RecheckedRender {
  readonly id: string;
  /** Null when get_render did not return it. */
  readonly status: RecordStatus | null;
  readonly webhookEventId: string | null;
}

interface CheckedDelivery {
  readonly eventId: string;
  /** As get_webhook reported it; null when it did not answer. */
  readonly status: string | null;
  readonly attempts: number;
}

interface CheckedOutput {
  readonly renderId: string;
  readonly engine: string;
  /** Null when it was downloaded and is a video. */
  readonly problem: string | null;
}

interface CheckedUpload {
  readonly assetId: string;
  /** Null when get_asset did not answer. */
  readonly status: string | null;
}

export interface WebhookEvidence {
  readonly events: readonly LoggedEvent[];
  readonly verifiesSignatures: boolean;
  readonly forgedAttempts: number;
  readonly malformedAttempts: number;
  readonly deliveries: readonly CheckedDelivery[];
}

/** Everything that the checks examine: observations during the run, and final states fetched at its end. */
export interface Evidence {
  readonly renders: readonly TrackedRender[];
  /** Every response of the run, whether or not it counts in a figure. */
  readonly requests: {
    /** From the first arrival of the warm-up until the last caller was served. */
    readonly ofCallers: AnswerCounts;
    /** Of preparation, drain and verification. */
    readonly beforeAndAfter: AnswerCounts;
  };
  readonly replays: {
    readonly count: number;
    readonly unmarked: number;
    readonly mismatches: readonly ReplayMismatch[];
  };
  /** Creates whose response was lost, and those of them that a replay could not settle either. */
  readonly lostAnswers: { readonly count: number; readonly unsettled: readonly string[] };
  readonly rechecked: readonly RecheckedRender[];
  /** Null when there was no receiver. */
  readonly webhooks: WebhookEvidence | null;
  readonly outputs: readonly CheckedOutput[];
  readonly uploads: readonly CheckedUpload[];
  readonly maxFailureRatio: number;
  readonly drainSeconds: number;
}

export interface CompletedUpload {
  readonly customer: Customer;
  readonly assetId: string;
}

export interface CollectOptions {
  readonly clock: Clock;
  readonly config: LoadTestConfig;
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly webhooks: WebhookSink | null;
  readonly uploads: readonly CompletedUpload[];
}

interface Collected {
  readonly rechecked: readonly RecheckedRender[];
  readonly deliveries: readonly CheckedDelivery[];
  readonly outputs: readonly CheckedOutput[];
  readonly uploads: readonly CheckedUpload[];
}

const WIDTH = 8;
/**
 * A delivery is settled after its response has arrived, an asset after its probe: both are quick once everything is
 * idle.
 */
const SETTLE_MS = 15_000;

/** Fetches the final state of what the run has left behind. */
export async function collectEvidence(options: CollectOptions): Promise<Collected> {
  const { clock, config, customers, ledger, webhooks } = options;
  const clientOf = (customer: number) => {
    const found = customers[customer];
    if (found === undefined) throw new Error(`there is no customer ${customer}`);
    return found.client;
  };
  const at = (customer: number) => ({
    client: clientOf(customer),
    clock,
    deadline: clock.now() + SETTLE_MS,
  });

  const records = new Map<string, RecordResource>();
  const recheck = async ({ id, customer }: TrackedRender): Promise<RecheckedRender> => {
    const { body, sentAt, answeredAt } = await ask(at(customer), 'get_render', { id });
    if (body === null) return { id, status: null, webhookEventId: null };
    ledger.observed(body, sentAt, answeredAt);
    records.set(id, body);
    return { id, status: body.status, webhookEventId: body.webhook_event_id ?? null };
  };
  const ended = [...ledger.renders()].filter(({ end }) => end !== null);
  const rechecked = await inParallel(sampleEvenly(ended, config.verifySample), WIDTH, recheck);

  const acknowledged = [...(webhooks?.log.events.values() ?? [])].filter((event) => event.acknowledged);
  const deliveries = await inParallel(
    sampleEvenly(acknowledged, config.verifySample),
    WIDTH,
    async ({ id: eventId, recordId }): Promise<CheckedDelivery> => {
      const customer = ledger.find(recordId)?.customer ?? 0;
      const isSettled = ({ status }: { status?: string }): boolean => status !== 'pending';
      const { body } = await ask(at(customer), 'get_webhook', { id: eventId }, isSettled);
      return { eventId, status: body?.status ?? null, attempts: body?.attempts ?? 0 };
    },
  );

  const completed = ended.filter(({ end }) => end?.status === 'completed');
  const outputs = await inParallel(
    sampleEvenly(completed, config.outputSample),
    WIDTH,
    async (render): Promise<CheckedOutput[]> => {
      // Signed URLs are valid for 15 minutes: get new ones.
      await recheck(render);
      const engines = records.get(render.id)?.engines ?? [];
      return inParallel(engines, 1, async ({ engine, status, output }) => ({
        renderId: render.id,
        engine,
        problem:
          status === 'completed' ? await problemOf(clientOf(render.customer), output?.url, clock) : null,
      }));
    },
  );

  const uploads = await inParallel(
    sampleEvenly(options.uploads, config.verifySample),
    WIDTH,
    async ({ customer, assetId }): Promise<CheckedUpload> => {
      const { body } = await ask(at(customer.index), 'get_asset', { id: assetId }, ({ status }) =>
        ASSET_STATES.isTerminal(status),
      );
      return { assetId, status: body?.status ?? null };
    },
  );
  return { rechecked, deliveries, outputs: outputs.flat(), uploads };
}

/** Position of the box type in an MP4 file. */
const FILE_TYPE = { from: 4, to: 8, text: 'ftyp' } as const;

async function problemOf(
  client: Customer['client'],
  url: string | undefined,
  clock: Clock,
): Promise<string | null> {
  if (url === undefined) return 'it has no address';
  const { body, outcome } = await client.download(url, clock.now());
  if (body === null) return `the download was answered with ${outcome.status ?? outcome.code}`;
  const type = body.body.toString('latin1', FILE_TYPE.from, FILE_TYPE.to);
  return type === FILE_TYPE.text ? null : `${body.bodyBytes} bytes that are no MP4`;
}

/** Maps with at most `width` calls at a time; results are in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (;;) {
      const index = next++;
      const item = items[index];
      if (item === undefined) return;
      results[index] = await map(item);
    }
  }
  await Promise.all(Array.from({ length: width }, work));
  return results;
}

/** At most `count` of the items, spread evenly over them. */
export function sampleEvenly<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)]).filter(
    (item) => item !== undefined,
  );
}
