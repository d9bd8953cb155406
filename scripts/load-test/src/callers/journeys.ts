import { readFileSync } from 'node:fs';
import {
  type Engine,
  type RecordResource,
  type RenderRequest,
  type SyncMode,
  type UploadRequest,
} from '@lipsync/contract';
import { contentTypeOf, pick, type Random } from '@lipsync/local-stack';
import { type JourneyName, type StreamConfig } from '../config';
import { type ReceiverBehavior } from '../target/receiver';
import { type Ledger, type RenderPurpose, type SentCreate } from '../track/ledger';
import { type ServiceClient } from './service-client';

interface Announcement {
  readonly url: string;
  readonly behavior: ReceiverBehavior;
}

/** What every journey of a run shares. */
export interface JourneyContext {
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly engines: readonly (readonly Engine[])[];
  readonly syncModes: readonly SyncMode[];
  readonly media: 'once' | 'per-render';
  readonly video: MediaFile;
  readonly audio: MediaFile;
  /** The URL of a receiver for an event of this customer; null when there is no receiver. */
  readonly announce: ((customer: number, random: Random) => Announcement) | null;
  readonly isWarmUp: (intendedAt: number) => boolean;
  /** A unique key for a create. */
  readonly newKey: () => string;
  /** Called with an asset whose upload was completed, to be checked at the end. */
  readonly onUploaded: (customer: Customer, assetId: string) => void;
}

interface Traveller {
  readonly customer: Customer;
  readonly stream: StreamConfig;
  readonly intendedAt: number;
  readonly random: Random;
}

/** Everything that one caller does. True when it achieved its purpose. */
type Journey = (context: JourneyContext, traveller: Traveller) => Promise<boolean>;
type Journeys = Readonly<Record<JourneyName, Journey>>;

const get: Journey = async ({ ledger }, { customer, intendedAt, random }) => {
  const { id } = pick(customer.recent.all, random);
  const { body, sentAt, answeredAt } = await customer.client.call('get_render', { intendedAt, id });
  if (body === null) return false;
  ledger.observed(body, sentAt, answeredAt);
  return true;
};

const create: Journey = async (context, traveller) => {
  const { customer, intendedAt } = traveller;
  const created = await createRender(context, traveller, {
    purpose: 'cancel',
    media: customer.media,
    sendFrom: intendedAt,
  });
  if (created === null) return false;
  const { outcome, body, sentAt, answeredAt } = await customer.client.call('cancel_render', {
    intendedAt: created.answeredAt,
    id: created.record.id,
    // An idle worker may finish before the caller cancels.
    expected: ['render_not_cancellable'],
  });
  if (body !== null) context.ledger.observed(body, sentAt, answeredAt);
  return outcome.class === 'success' || outcome.class === 'expected';
};

const replay: Journey = async ({ ledger }, { customer, intendedAt, random }) => {
  const known = pick(customer.recent.all, random);
  const { body, headers, sentAt, answeredAt } = await customer.client.call('create_render', {
    intendedAt,
    body: known.create.request,
    idempotencyKey: known.create.idempotencyKey,
    as: 'replay_render',
  });
  if (body === null) return false;
  ledger.replayed(known.create, known.id, body, headers['idempotent-replayed'] === 'true');
  ledger.observed(body, sentAt, answeredAt);
  return true;
};

const render: Journey = async (context, traveller) => {
  const { customer, intendedAt } = traveller;
  const create = async (media: CustomerMedia, sendFrom: number): Promise<boolean> =>
    (await createRender(context, traveller, { purpose: 'result', media, sendFrom })) !== null;
  if (context.media === 'once') return create(customer.media, intendedAt);
  const video = await uploadMedia(customer, context.video, intendedAt);
  if (video === null) return false;
  const audio = await uploadMedia(customer, context.audio, video.endedAt);
  if (audio === null) return false;
  return create({ videoAssetId: video.assetId, audioAssetId: audio.assetId }, audio.endedAt);
};

interface CreateOptions {
  readonly purpose: RenderPurpose;
  readonly media: CustomerMedia;
  /** When the previous step was answered; without one, the arrival. */
  readonly sendFrom: number;
}

interface CreatedRender {
  readonly record: RecordResource;
  readonly create: SentCreate;
  readonly answeredAt: number;
}

/**
 * Sends one create_render with a new key and enters the result into the ledger: a render, nothing (it was refused), or
 * an unknown result after a lost response.
 */
export async function createRender(
  context: JourneyContext,
  { customer, stream, intendedAt, random }: Traveller,
  { purpose, media, sendFrom }: CreateOptions,
): Promise<CreatedRender | null> {
  const announcement = stream.announces ? (context.announce?.(customer.index, random) ?? null) : null;
  const request: RenderRequest = {
    video: { asset_id: media.videoAssetId },
    audio: { asset_id: media.audioAssetId },
    engines: [...pick(context.engines, random)],
    sync_mode: pick(context.syncModes, random),
    ...(announcement === null ? {} : { webhook_url: announcement.url }),
  };
  const create: SentCreate = {
    customer: customer.index,
    purpose,
    idempotencyKey: context.newKey(),
    request,
    announcedTo: announcement?.behavior ?? null,
    intendedAt,
    isWarmUp: context.isWarmUp(intendedAt),
  };
  const { body, outcome, sentAt, answeredAt } = await customer.client.call('create_render', {
    intendedAt: sendFrom,
    body: request,
    idempotencyKey: create.idempotencyKey,
  });
  if (body === null) {
    // A 503 leaves open whether it came before or after the commit.
    if (outcome.class === 'transport' || outcome.class === 'unavailable') context.ledger.unanswered(create);
    return null;
  }
  context.ledger.accepted(create, body, sentAt, answeredAt);
  customer.recent.add({ id: body.id, create });
  return { record: body, create, answeredAt };
}

/**
 * The three steps of an upload, each sent when the previous one is answered. Returns the asset's id, or null when a
 * step failed.
 */
export async function uploadMedia(
  { client }: Customer,
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
  const uploaded = await uploadMedia(customer, random() < 0.5 ? context.video : context.audio, intendedAt);
  if (uploaded === null) return false;
  context.onUploaded(customer, uploaded.assetId);
  return true;
};

/** A render that this customer has created, with its request, so that it can be fetched and replayed. */
interface KnownCreate {
  readonly id: string;
  readonly create: SentCreate;
}

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
  readonly recent: RecentCreates;
}

interface RecentCreates {
  add(known: KnownCreate): void;
  readonly all: readonly KnownCreate[];
}

/** Number of recent creates to keep: enough for a run to choose from. */
const MAX_RECENT = 256;

export function createRecentCreates(): RecentCreates {
  const all: KnownCreate[] = [];
  let next = 0;
  return {
    add(known) {
      all[next] = known;
      next = (next + 1) % MAX_RECENT;
    },
    all,
  };
}

/** A file to upload, held in memory so that uploads under load do not wait for this machine's disk. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly request: UploadRequest;
}

export function readMediaFile(file: string, mediaType: 'video' | 'audio'): MediaFile {
  const bytes = readFileSync(file);
  return {
    bytes,
    request: {
      media_type: mediaType,
      content_type: contentTypeOf(file, mediaType),
      size_bytes: bytes.length,
    },
  };
}

export const JOURNEYS: Journeys = { get, create, replay, upload, render };
