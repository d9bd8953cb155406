import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { readCredentials } from '@lipsync/credentials-reader';
import { ASSET_STATES } from '@lipsync/domain';
import { type JourneyContext } from '../callers/journeys';
import { ask, type ServiceClient } from '../callers/service-client';
import { type CheckResult } from '../report/report';
import { type TrackedRender } from '../track/ledger';
import { type AnswerTally } from '../track/outcome';
import { runChecks } from './checks';
import { type Evidence } from './evidence';

/** What was running, and until when to wait for it, in milliseconds of the run's clock. */
interface Ending {
  readonly run: JourneyContext;
  readonly deadline: number;
}

function clientOf({ customers }: JourneyContext, customer: number): ServiceClient {
  const found = customers[customer];
  if (found === undefined) throw new Error(`there is no customer ${customer}`);
  return found.client;
}

/**
 * Repeats each create whose response was lost, with its key: the response is the render that it created, or creates
 * now. Returns descriptions of those that could not be settled.
 */
export async function settleLostAnswers({ run, deadline }: Ending): Promise<string[]> {
  const unsettled: string[] = [];
  // In sequence: parallel requests would not help a service in trouble.
  for (const create of run.ledger.unansweredCreates) {
    const { request, idempotencyKey } = create;
    const { body, outcome, sentAt, answeredAt } = await ask(
      clientOf(run, create.customer),
      deadline,
      'create_render',
      { body: request, idempotencyKey },
    );
    if (body !== null) run.ledger.accepted(create, body, sentAt, answeredAt);
    else unsettled.push(`${idempotencyKey}: ${outcome.status ?? ''} ${outcome.code ?? 'no answer'}`);
  }
  return unsettled;
}

/**
 * Cancels renders whose cancellation was refused or got no response: nobody needs their results. Those that still
 * cannot be cancelled are left to end on their own.
 */
export async function cancelLeftOvers({ run, deadline }: Ending): Promise<void> {
  const leftOver = [...run.ledger.renders()].filter(
    ({ purpose, end }) => purpose === 'cancel' && end === null,
  );
  await inParallel(leftOver, async ({ id, customer }) => {
    // It may have ended since it was last seen.
    const expected = ['render_not_cancellable'];
    await ask(clientOf(run, customer), deadline, 'cancel_render', { id, expected });
  });
}

const EVERY_MS = 250;

/** Waits until every accepted render has ended and every event has been acknowledged, or the deadline has passed. */
export async function drain(
  { run, deadline }: Ending,
  onWaiting: (open: number, unannounced: number) => void,
): Promise<void> {
  for (;;) {
    const { open } = run.ledger;
    const unannounced = countUnannounced(run);
    if (open === 0 && unannounced === 0) return;
    onWaiting(open, unannounced);
    if (performance.now() >= deadline) return;
    await delay(EVERY_MS);
  }
}

function countUnannounced({ ledger, webhooks }: JourneyContext): number {
  if (webhooks === null) return 0;
  let count = 0;
  for (const { id, announcedTo } of ledger.renders())
    if (announcedTo !== null && !webhooks.log.eventsOf(id).some(({ acknowledged }) => acknowledged)) count++;
  return count;
}

interface VerifyOptions {
  readonly run: JourneyContext;
  readonly answers: { readonly ofCallers: AnswerTally; readonly beforeAndAfter: AnswerTally };
  /** Descriptions of creates whose response was lost and that a replay could not settle. */
  readonly unsettled: readonly string[];
}

/** Fetches the final state of what the run has left behind, and runs all checks. */
export async function verifyRun({ run, answers, unsettled }: VerifyOptions): Promise<CheckResult[]> {
  const { ledger, webhooks, config } = run;
  const final = await finalStates(run);
  return runChecks({
    ...final,
    renders: [...ledger.renders()],
    requests: {
      ofCallers: answers.ofCallers.counts(),
      // Includes the requests just made.
      beforeAndAfter: answers.beforeAndAfter.counts(),
    },
    replays: ledger.replays,
    lostAnswers: { count: ledger.unansweredCreates.length, unsettled },
    webhooks,
    maxFailures: config.maxFailures,
    drain: config.drain,
  });
}

/**
 * A delivery is settled after its response has arrived, an asset after its probe: both are quick once everything is
 * idle.
 */
const SETTLE_MS = 15_000;

/** Asks once more for a sample of everything that the run has left behind. */
export async function finalStates(
  run: JourneyContext,
): Promise<Pick<Evidence, 'rechecked' | 'deliveries' | 'outputs' | 'uploads'>> {
  const { config, ledger, webhooks } = run;
  const soon = (): number => performance.now() + SETTLE_MS;
  const recheck = async ({ id, customer }: TrackedRender) => {
    const { body } = await ask(clientOf(run, customer), soon(), 'get_render', { id });
    return { id, record: body };
  };
  const ended = [...ledger.renders()].filter(({ end }) => end !== null);
  const rechecked = await inParallel(sampleEvenly(ended, config.verifySample), recheck);

  const acknowledged = [...(webhooks?.log.events.values() ?? [])].filter((event) => event.acknowledged);
  const deliveries = await inParallel(
    sampleEvenly(acknowledged, config.verifySample),
    async ({ id: eventId, recordId }) => {
      const client = clientOf(run, ledger.find(recordId)?.customer ?? 0);
      const { body } = await ask(
        client,
        soon(),
        'get_webhook',
        { id: eventId },
        ({ status }) => status !== 'pending',
      );
      return { eventId, status: body?.status ?? null, attempts: body?.attempts ?? 0 };
    },
  );

  const completed = ended.filter(({ end }) => end?.status === 'completed');
  const outputs = await inParallel(sampleEvenly(completed, config.outputSample), async (render) => {
    // Signed URLs are valid for 15 minutes: get new ones.
    const { record } = await recheck(render);
    const found = [];
    for (const { engine, status, output } of record?.engines ?? []) {
      if (status !== 'completed') continue;
      found.push({
        renderId: render.id,
        engine,
        ...(await examineOutput(clientOf(run, render.customer), output?.url)),
      });
    }
    return found;
  });

  const uploads = await inParallel(
    sampleEvenly(run.uploads, config.verifySample),
    async ({ customer, assetId }) => {
      const { body } = await ask(customer.client, soon(), 'get_asset', { id: assetId }, ({ status }) =>
        ASSET_STATES.isTerminal(status),
      );
      return { assetId, status: body?.status ?? null };
    },
  );
  return { rechecked, deliveries, outputs: outputs.flat(), uploads };
}

/** Position of the box type in an MP4 file. */
const FILE_TYPE = { from: 4, to: 8, text: 'ftyp' } as const;

type OutputFindings = Pick<Evidence['outputs'][number], 'problem' | 'credentials'>;

async function examineOutput(client: ServiceClient, url: string | undefined): Promise<OutputFindings> {
  const broken = (problem: string): OutputFindings => ({ problem, credentials: null });
  if (url === undefined) return broken('it has no address');
  const { body, outcome } = await client.download(url, performance.now());
  if (body === null) return broken(`the download was answered with ${outcome.status ?? outcome.code}`);
  const type = body.body.toString('latin1', FILE_TYPE.from, FILE_TYPE.to);
  if (type !== FILE_TYPE.text) return broken(`${body.bodyBytes} bytes that are no MP4`);
  return { problem: null, credentials: await judgeCredentials(body.body) };
}

let reader: Promise<Buffer> | undefined;

/** Reads them with another implementation of C2PA than the one that has written them. */
async function judgeCredentials(bytes: Buffer): Promise<OutputFindings['credentials']> {
  reader ??= readFile(require.resolve('@contentauth/c2pa-wasm/c2pa.wasm'));
  const found = await readCredentials(await reader, bytes);
  if (found === null) return 'none';
  return found.state === 'invalid' ? { problems: found.problems } : 'verified';
}

const WIDTH = 8;

/** Maps with a few calls at a time; results are in the order of the items. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  async function work(): Promise<void> {
    for (const [index, item] of rest) results[index] = await map(item);
  }
  await Promise.all(Array.from({ length: WIDTH }, work));
  return results;
}

/** At most `count` of the items, spread evenly over them. */
function sampleEvenly<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  const chosen = new Set(Array.from({ length: count }, (_, i) => Math.floor((i * items.length) / count)));
  return items.filter((_, index) => chosen.has(index));
}
