import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { conforms, type OperationId, OPERATIONS } from '@lipsync/contract';
import { SAMPLE_AUDIO } from '@lipsync/local-stack';
import { eventually, expectContract } from '@lipsync/testkit';
import fc from 'fast-check';
import { type FuzzedRequest, fuzzedRequests } from './fuzzed-requests';
import { MEDIA_HOST } from './origins';
import { type Caller, type CorpusResult, createTally, type TestBed } from './test-bed';

const CONCURRENCY = 32;
const ANSWER_DEADLINE_MS = 30_000;
/** Words that only the inside of the service uses. */
const INTERNALS = /node_modules|\.js:\d+|prisma|postgres|redis|ECONN|\bSELECT\b/i;
/** In fewer requests than this, an operation may by chance never succeed. */
const ENOUGH = 5_000;

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * Sends requests that are derived from the contract and damaged. Every answer must be in the contract, none may be a
 * fault of the service, and none may contain a secret or an id of another customer.
 */
export async function fuzzRequests(bed: TestBed, seed: number, count: number): Promise<CorpusResult> {
  const [own, foreign] = await Promise.all([prepare(bed.attacker), prepare(bed.victim)]);
  const before = await stateOf(bed.victim, foreign);
  const { result, count: countOutcome } = createTally();
  const succeeded = new Set<string>();

  function judge({ operationId }: FuzzedRequest, answer: Answer): string[] {
    const ofOthers = Object.values(foreign).filter((id) => answer.text.includes(id));
    const { outcome, faults } = judgeAnswer(operationId, answer, [
      ...bed.secretsIn(answer.text),
      ...ofOthers,
    ]);
    countOutcome(outcome);
    if (answer.status < 300 && operationId !== null) succeeded.add(operationId);
    return faults;
  }

  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const requests = fc.sample(
    fuzzedRequests({
      apiKey: bed.attacker.api_key,
      marker: bed.marker,
      ids: [...Object.values(own), ...Object.values(foreign)],
      examples: examples(own),
    }),
    { seed, numRuns: count },
  );
  const queue = requests.entries();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const [index, fuzzed] of queue) {
        const found = await send(bed.description.base_url, agent, fuzzed).then(
          (answer) => judge(fuzzed, answer),
          (error: unknown) => [`no answer: ${String(error)}`],
        );
        if (found.length > 0)
          result.violations.push(`request ${index}: ${found.join('; ')}\n    ${inWords(fuzzed)}`);
      }
    }),
  );
  agent.destroy();

  if ((await stateOf(bed.victim, foreign)) !== before)
    result.violations.push("another customer's resources changed");
  const never = OPERATIONS.filter(({ operationId }) => !succeeded.has(operationId));
  if (count >= ENOUGH && never.length > 0)
    result.violations.push(
      `blunt: ${never.map(({ operationId }) => operationId).join(', ')} never succeeded`,
    );
  return result;
}

/**
 * What an answer says: an error's code, else its status; and what is wrong with it. `leaked` names what it contains of
 * others.
 */
export function judgeAnswer(
  operationId: OperationId | null,
  { status, headers, text: content }: Answer,
  leaked: readonly string[],
): { outcome: string; faults: string[] } {
  const faults = leaked.map((name) => `the answer contains ${name}`);
  let outcome = String(status);
  try {
    const body: unknown = content === '' ? undefined : JSON.parse(content);
    if (conforms('ErrorResponse', body)) outcome = body.error.code;
    expectContract(operationId, { status, headers, body });
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  // Nothing that the service depends on is away.
  if (status >= 500 && outcome !== 'engine_unavailable') faults.push('a fault of the service');
  if (status >= 400 && INTERNALS.test(content)) faults.push('the answer tells about the inside');
  return { outcome, faults: faults.map((fault) => `${fault} (${status} ${content.slice(0, 300)})`) };
}

type Ids = Awaited<ReturnType<typeof prepare>>;

/** A resource of every kind, in a state that does not change on its own. */
async function prepare({ api }: Caller) {
  const url = `https://${MEDIA_HOST}/missing.mp4`;
  // Its media never arrive, so that it is still open when it is cancelled.
  const hanging = { url: `https://${MEDIA_HOST}/hang` };
  const render = await api.renders.create({
    video: hanging,
    audio: hanging,
    engines: ['musetalk'],
    sync_mode: 'loop',
    webhook_url: `https://${MEDIA_HOST}/hook`,
  });
  const { webhook_event_id: event = '' } = await api.renders.cancel(render.id);
  const preparation = await api.preparations.create({ video: { url } });
  // Its bytes are there, so that anyone who is allowed to complete it can.
  const bytes = 'no sound!';
  const upload = await api.uploads.begin({
    media_type: 'audio',
    content_type: 'audio/wav',
    size_bytes: bytes.length,
  });
  await fetch(upload.upload_url, { method: 'PUT', headers: upload.required_headers, body: bytes });
  const audio = await api.uploads.create(SAMPLE_AUDIO, { mediaType: 'audio' });
  await eventually(async () => {
    const settled = [
      (await api.webhooks.get(event)).status === 'delivered',
      (await api.assets.get(audio.id)).status === 'ready',
      (await api.preparations.get(preparation.id)).status === 'failed',
    ];
    if (settled.includes(false)) throw new Error('the resources to fuzz with are not ready');
  });
  return {
    render: render.id,
    event,
    preparation: preparation.id,
    audio: audio.id,
    upload: upload.id,
    awaiting: upload.asset_id,
    failed: preparation.video_asset_id,
  };
}

async function stateOf({ api }: Caller, ids: Ids): Promise<string> {
  const states = [
    api.renders.get(ids.render),
    api.webhooks.get(ids.event),
    api.preparations.get(ids.preparation),
  ];
  const assets = [ids.audio, ids.awaiting, ids.failed].map((id) => api.assets.get(id));
  return JSON.stringify(await Promise.all([...states, ...assets]));
}

/** Strings that the operations accept, by the name of their property. */
function examples(own: Ids): Record<string, string[]> {
  return {
    url: [1, 2, 3].map((n) => `https://${MEDIA_HOST}/missing-${n}.mp4`),
    webhook_url: [`https://${MEDIA_HOST}/hook`],
    asset_id: [own.audio, own.audio, own.awaiting, own.failed],
    preparation_id: [own.preparation],
    content_type: ['video/mp4', 'audio/wav', 'video/webm; codecs=vp9'],
    idempotency_key: ['🔑', 'k'.repeat(128), ...Array.from({ length: 100 }, (_, i) => `key-${i}`)],
  };
}

function send(
  baseUrl: string,
  agent: Agent,
  { method, path, headers, body }: FuzzedRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const options = { hostname, port, agent, method, path, headers, timeout: ANSWER_DEADLINE_MS };
    const sent = request(options, (response) => {
      text(response).then((content) => {
        const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(fields),
          text: content,
        });
      }, reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('timed out'))).on('error', reject);
    sent.end(body);
  });
}

function inWords({ method, path, headers, body }: FuzzedRequest): string {
  const shown = JSON.stringify({ ...headers, authorization: undefined }).slice(0, 400);
  return `${method} ${path.slice(0, 200)} ${shown} ${body?.toString('latin1').slice(0, 400) ?? ''}`;
}
