import { type RecordResource, type RenderRequest } from '@lipsync/contract';
import { pick } from '@lipsync/scripts';
import { type CustomerMedia } from '../customer';
import { type SentCreate } from '../renders/ledger';
import { type RenderPurpose } from '../renders/tracked-render';
import { type JourneyContext, type Traveller } from './journey';

export interface CreateOptions {
  readonly purpose: RenderPurpose;
  readonly media: CustomerMedia;
  /** When the previous step was answered; without one, the arrival. */
  readonly sendFrom: number;
}

export interface CreatedRender {
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
    announcedTo: announcement?.behaviour ?? null,
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
