import { pick } from '@lipsync/scripts';
import { type CustomerMedia } from '../customer';
import { createRender } from './create-render';
import { type Journey, type Journeys } from './journey';
import { upload, uploadMedia } from './upload';

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

export const JOURNEYS: Journeys = { get, create, replay, upload, render };
