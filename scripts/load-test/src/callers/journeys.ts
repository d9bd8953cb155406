import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { contentTypeOf } from '@lipsync/client';
import { type RenderRequest, type UploadRequest } from '@lipsync/contract';
import { pick, pickWeighted, type Random } from '@lipsync/local-stack';
import { type JourneyName, type LoadTestConfig, type StreamConfig } from '../config';
import { type WebhookSink } from '../target/load-target';
import { type Ledger, type RenderPurpose, type SentCreate } from '../track/ledger';
import { type ServiceClient } from './service-client';

/** What every journey of a run shares. */
export interface JourneyContext {
  readonly config: LoadTestConfig;
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly video: MediaFile;
  readonly audio: MediaFile;
  /** Null when events cannot reach the harness. */
  readonly webhooks: WebhookSink | null;
  /** Arrivals before it are the warm-up. */
  measuredFrom: number;
  /** A unique key for a create. */
  readonly newKey: () => string;
  /** Completed uploads, to be checked at the end. */
  readonly uploads: { readonly customer: Customer; readonly assetId: string }[];
}

interface Traveler {
  readonly customer: Customer;
  readonly stream: Pick<StreamConfig, 'announces'>;
  readonly intendedAt: number;
  readonly random: Random;
}

/** Everything that one caller does. True when it achieved its purpose. */
type Journey = (context: JourneyContext, traveler: Traveler) => Promise<boolean>;

const get: Journey = async (_, { customer, intendedAt, random }) => {
  const { id } = pick(customer.recent, random);
  const { body } = await customer.client.call('get_render', { intendedAt, id });
  return body !== null;
};

const create: Journey = async (context, traveler) => {
  const { customer, intendedAt } = traveler;
  const created = await createRender(context, traveler, 'cancel', customer.media, intendedAt);
  if (created === null) return false;
  const { outcome } = await customer.client.call('cancel_render', {
    intendedAt: created.answeredAt,
    id: created.id,
    // An idle worker may finish before the caller cancels.
    expected: ['render_not_cancellable'],
  });
  return outcome.class === 'success' || outcome.class === 'expected';
};

const replay: Journey = async ({ ledger }, { customer, intendedAt, random }) => {
  const known = pick(customer.recent, random);
  const { body, headers } = await customer.client.call('create_render', {
    intendedAt,
    body: known.create.request,
    idempotencyKey: known.create.idempotencyKey,
    as: 'replay_render',
  });
  if (body === null) return false;
  ledger.replayed(known.create, known.id, body, headers['idempotent-replayed'] === 'true');
  return true;
};

const render: Journey = async (context, traveler) => {
  const { customer, intendedAt } = traveler;
  const wanted = async (media: CustomerMedia, sendFrom: number): Promise<boolean> =>
    (await createRender(context, traveler, 'result', media, sendFrom)) !== null;
  if (context.config.media === 'once') return wanted(customer.media, intendedAt);
  const video = await uploadMedia(customer.client, context.video, intendedAt);
  if (video === null) return false;
  const audio = await uploadMedia(customer.client, context.audio, video.endedAt);
  if (audio === null) return false;
  return wanted({ videoAssetId: video.assetId, audioAssetId: audio.assetId }, audio.endedAt);
};

/**
 * Sends one create_render with a new key and enters the result into the ledger: a render, nothing (it was refused), or
 * an unknown result after a lost response. `sendFrom` is when the previous step was answered; without one, the arrival.
 */
async function createRender(
  context: JourneyContext,
  { customer, stream, intendedAt, random }: Traveler,
  purpose: RenderPurpose,
  media: CustomerMedia,
  sendFrom: number,
): Promise<{ id: string; answeredAt: number } | null> {
  const { config, ledger, webhooks } = context;
  const sink = stream.announces ? webhooks : null;
  const announcedTo = sink && pickWeighted(config.receivers, random);
  const request: RenderRequest = {
    video: { asset_id: media.videoAssetId },
    audio: { asset_id: media.audioAssetId },
    engines: [...pick(config.engines, random)],
    sync_mode: pick(config.syncModes, random),
    ...(sink && announcedTo && { webhook_url: sink.url(customer.index, announcedTo) }),
  };
  const create: SentCreate = {
    customer: customer.index,
    purpose,
    idempotencyKey: context.newKey(),
    request,
    announcedTo,
    intendedAt,
    isWarmUp: intendedAt < context.measuredFrom,
  };
  const { body, outcome, sentAt, answeredAt } = await customer.client.call('create_render', {
    intendedAt: sendFrom,
    body: request,
    idempotencyKey: create.idempotencyKey,
  });
  if (body === null) {
    // A 503 leaves open whether it came before or after the commit.
    if (outcome.class === 'transport' || outcome.class === 'unavailable') ledger.unanswered(create);
    return null;
  }
  ledger.accepted(create, body, sentAt, answeredAt);
  customer.recent.push({ id: body.id, create });
  if (customer.recent.length > MAX_RECENT) customer.recent.shift();
  return { id: body.id, answeredAt };
}

/** Number of recent creates to keep: enough for a run to choose from. */
const MAX_RECENT = 256;

/**
 * The three steps of an upload, each sent when the previous one is answered. Returns the asset's id, or null when a
 * step failed.
 */
export async function uploadMedia(
  client: ServiceClient,
  { bytes, request }: MediaFile,
  intendedAt: number,
): Promise<{ assetId: string; endedAt: number } | null> {
  const created = await client.call('create_upload', { intendedAt, body: request });
  if (created.body === null) return null;
  const put = await client.putBytes(created.body, bytes, created.answeredAt);
  if (put.body === null) return null;
  const completed = await client.call('complete_upload', { intendedAt: put.answeredAt, id: created.body.id });
  return completed.body && { assetId: completed.body.id, endedAt: completed.answeredAt };
}

/** Uploads video or audio, chosen at random. */
const upload: Journey = async (context, { customer, intendedAt, random }) => {
  const file = random() < 0.5 ? context.video : context.audio;
  const uploaded = await uploadMedia(customer.client, file, intendedAt);
  if (uploaded === null) return false;
  context.uploads.push({ customer, assetId: uploaded.assetId });
  return true;
};

/** The sample media as assets of the customer. */
interface CustomerMedia {
  readonly videoAssetId: string;
  readonly audioAssetId: string;
}

/** One of the customers that the load comes from. */
export interface Customer {
  readonly index: number;
  readonly client: ServiceClient;
  readonly media: CustomerMedia;
  /** Its latest renders with their requests, so that they can be fetched and replayed. */
  readonly recent: { readonly id: string; readonly create: SentCreate }[];
}

/** A file to upload, held in memory so that uploads under load do not wait for this machine's disk. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly request: UploadRequest;
}

export async function readMediaFile(file: string, mediaType: 'video' | 'audio'): Promise<MediaFile> {
  const bytes = await readFile(file);
  const contentType = await contentTypeOf(new File([bytes], path.basename(file)), mediaType);
  return {
    bytes,
    request: { media_type: mediaType, content_type: contentType, size_bytes: bytes.length },
  };
}

export const JOURNEYS: Readonly<Record<JourneyName, Journey>> = { get, create, replay, upload, render };
