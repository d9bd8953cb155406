import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, pick, pickWeighted, type Random, type StackCustomer } from '@lipsync/local-stack';
import type { Call, History } from './history';
import { type Clip, CLIPS, expectedFrames, SYNC_MODES, withNewBytes } from './media';
import { BEHAVIORS, ORIGIN_HOST, RECEIVER_HOST } from './receivers';

const TIMEOUT_MS = 20_000;
/** A client tries for this long to get an answer that it can go on with. */
const PATIENCE_MS = 60_000;
const POLL_MS = 400;
const ENGINE_SETS = [['musetalk'], ['latentsync'], ['highsync'], ['musetalk', 'latentsync', 'highsync']];
const TERMINAL = ['completed', 'failed', 'cancelled'];
/** What an actor does next, by weight. */
const SCENARIOS = { render: 10, cancelled: 4, byUrl: 3, badUrl: 1, upload: 3, prepared: 3, foreign: 1 };

export interface LoadOptions {
  seed: number;
  actors: number;
  /** Base addresses, used in turn. */
  apis: readonly string[];
  customers: readonly StackCustomer[];
  clips: Record<Clip, { video: Buffer; audio: Buffer }>;
  history: History;
}

/** What the checker must know about a render beforehand, by the nonce in its webhook URL. */
export interface Wish {
  frames: number;
  /** Its media are good, so it may only complete, or be cancelled. */
  isGood: boolean;
}

interface Resource {
  id: string;
  status: string;
  webhook_event_id?: string;
}

interface Upload {
  upload_url: string;
  required_headers: Record<string, string>;
  asset_id: string;
}

/** Clients that use the service as customers do, until `stop` is aborted. Returns what they wished for. */
export async function runLoad(options: LoadOptions, stop: AbortSignal): Promise<Map<string, Wish>> {
  const wishes = new Map<string, Wish>();
  const actors = Array.from({ length: options.actors }, (_, index) => runActor(options, index, wishes, stop));
  await Promise.all(actors);
  return wishes;
}

async function runActor(
  { seed, apis, customers, clips, history }: LoadOptions,
  index: number,
  wishes: Map<string, Wish>,
  stop: AbortSignal,
): Promise<void> {
  const random: Random = createRandom(seed, `actor ${index}`);
  const customer = index % customers.length;
  let calls = 0;
  let wished = 0;
  const nextNonce = (): string => `${index}-${++wished}`;

  interface Request extends Partial<Pick<Call, 'id' | 'key' | 'nonce' | 'altered' | 'foreign'>> {
    op: string;
    path: string;
    body?: object;
  }

  async function call({ op, path, body, ...about }: Request): Promise<Pick<Call, 'status' | 'body'>> {
    const at = Date.now();
    const api = apis[(index + calls++) % apis.length] ?? '';
    let status: number | null = null;
    let answer: unknown = null;
    try {
      const response = await fetch(`${api}${path}`, {
        method: op.startsWith('get_') ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${customers[customer]?.api_key ?? ''}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(about.key === undefined ? {} : { 'idempotency-key': about.key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      answer = await response.json();
      status = response.status;
    } catch {
      // No answer, or not a whole one: the client cannot know what became of its request.
    }
    history.add({ kind: 'call', at, answeredAt: Date.now(), customer, op, ...about, status, body: answer });
    return { status, body: answer };
  }

  /** Repeats a request that may be repeated until its answer is final; null if there is none in time. */
  async function persist(request: Request): Promise<Resource | null> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const { status, body } = await call(request);
      if (status !== null && status < 300) return body as Resource;
      const isFinal = status !== null && status !== 503 && status !== 429;
      if (isFinal || Date.now() > deadline) return null;
      await delay(300 + random() * 700);
    }
  }

  const get = (op: string, kind: string, id: string): Promise<Resource | null> =>
    persist({ op, path: `/v1/${kind}/${id}`, id });

  /** Polls until the record has ended or the load ends. */
  async function watch(kind: 'renders' | 'preparations', id: string): Promise<Resource | null> {
    const op = kind === 'renders' ? 'get_render' : 'get_preparation';
    for (;;) {
      const record = await get(op, kind, id);
      if (record === null || stop.aborted) return record;
      if (TERMINAL.includes(record.status)) {
        if (record.webhook_event_id) await get('get_webhook', 'webhooks', record.webhook_event_id);
        return record;
      }
      await delay(POLL_MS);
    }
  }

  async function upload(mediaType: 'video' | 'audio', bytes: Buffer): Promise<string | null> {
    const contentType = mediaType === 'video' ? 'video/mp4' : 'audio/wav';
    const body = { media_type: mediaType, content_type: contentType, size_bytes: bytes.length };
    const made = await persist({ op: 'create_upload', path: '/v1/uploads', body });
    if (made === null) return null;
    const { upload_url, required_headers, asset_id } = made as Resource & Upload;
    for (let tries = 0; tries < 20; tries++) {
      const sent = await fetch(upload_url, {
        method: 'PUT',
        headers: required_headers,
        body: new Uint8Array(bytes),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(() => null);
      await sent?.body?.cancel().catch(() => undefined);
      // 412: an earlier try arrived, though its answer did not.
      if (sent?.ok === true || sent?.status === 412) break;
      await delay(500);
    }
    const path = `/v1/uploads/${made.id}/complete`;
    return (await persist({ op: 'complete_upload', path, id: made.id })) && asset_id;
  }

  const webhookUrl = (nonce: string): string =>
    `https://${RECEIVER_HOST}/${customer}/${random() < 0.6 ? 'steady' : pick(BEHAVIORS, random)}/${nonce}`;

  /** Creates once what is asked for: with duplicates side by side, and repeated until answered. */
  async function create(op: 'create_render' | 'create_preparation', wish: object): Promise<Resource | null> {
    const nonce = nextNonce();
    const path = op === 'create_render' ? '/v1/renders' : '/v1/preparations';
    const body = { ...wish, webhook_url: webhookUrl(nonce) };
    const request = { op, path, body, key: `key-${nonce}`, nonce };
    const duplicates = random() < 0.4 ? [request, request] : [];
    const [created] = await Promise.all([persist(request), ...duplicates.map(persist)]);
    if (created && random() < 0.3) {
      await persist(request);
      await persist({
        ...request,
        altered: true,
        body: { ...body, webhook_url: webhookUrl(`${nonce}-altered`) },
      });
    }
    return created ?? null;
  }

  const clipNames = Object.keys(CLIPS) as Clip[];
  const uploaded: Record<string, string> = {};
  /** An asset of the clip, uploaded once by this actor, or by URL. */
  async function input(mediaType: 'video' | 'audio', clip: Clip): Promise<object | null> {
    const name = `${mediaType}-${clip}`;
    const id = (uploaded[name] ??= (await upload(mediaType, clips[clip][mediaType])) ?? '');
    if (id === '') delete uploaded[name];
    return id === '' ? null : { asset_id: id };
  }

  async function render(inputs: object | null, extra: object = {}): Promise<Resource | null> {
    const [video, audio, mode] = [pick(clipNames, random), pick(clipNames, random), pick(SYNC_MODES, random)];
    const engines = pick(ENGINE_SETS, random);
    const good = inputs ?? { video: await input('video', video), audio: await input('audio', audio) };
    if (Object.values(good).includes(null)) return null;
    wishes.set(`${index}-${wished + 1}`, {
      frames: expectedFrames(video, audio, mode),
      isGood: inputs === null,
    });
    return create('create_render', { ...good, engines, sync_mode: mode, ...extra });
  }

  const fromOrigin = (behavior: string, name: string) => ({
    url: `https://${ORIGIN_HOST}/${behavior}/${name}`,
  });

  const act: Record<keyof typeof SCENARIOS, () => Promise<unknown>> = {
    render: async () => {
      const made = await render(null);
      return made && watch('renders', made.id);
    },
    cancelled: async () => {
      const made = await render(null);
      if (made === null) return;
      await delay(random() * 4_000);
      await persist({ op: 'cancel_render', path: `/v1/renders/${made.id}/cancel`, id: made.id });
      await watch('renders', made.id);
    },
    byUrl: async () => {
      const inputs = { video: fromOrigin('steady', 'short.mp4'), audio: fromOrigin('steady', 'short.wav') };
      const made = await render(inputs);
      return made && watch('renders', made.id);
    },
    badUrl: async () => {
      const bad = fromOrigin(pick(['missing', 'resetting', 'hanging'], random), 'none.mp4');
      const made = await render({ video: bad, audio: fromOrigin('steady', 'short.wav') });
      return made && watch('renders', made.id);
    },
    upload: async () => {
      const id = await upload('video', withNewBytes(clips.short.video));
      if (id === null) return;
      for (;;) {
        const asset = await get('get_asset', 'assets', id);
        if (asset === null || ['ready', 'failed'].includes(asset.status) || stop.aborted) return;
        await delay(POLL_MS);
      }
    },
    prepared: async () => {
      const video = { asset_id: await upload('video', withNewBytes(clips.short.video)) };
      if (video.asset_id === null) return;
      const made = await create('create_preparation', { video });
      const ended = made && (await watch('preparations', made.id));
      if (ended?.status !== 'completed') return;
      const audio = await input('audio', 'short');
      const rendered = audio && (await render({ video, audio }, { preparation_id: ended.id }));
      return rendered && watch('renders', rendered.id);
    },
    foreign: async () => {
      const theirs = history.entries.find(
        (entry): entry is Call =>
          entry.kind === 'call' && entry.op === 'get_render' && entry.customer !== customer,
      );
      if (theirs?.id === undefined) return;
      const path = `/v1/renders/${theirs.id}`;
      const about = { id: theirs.id, foreign: true } as const;
      await call({ op: 'get_render', path, ...about });
      await call({ op: 'cancel_render', path: `${path}/cancel`, ...about });
    },
  };

  while (!stop.aborted) {
    await act[pickWeighted(SCENARIOS, random)]();
    await delay(random() * 500);
  }
}
