import { type Customer } from '../customer';
import { type MediaFile } from '../media-file';
import { type Journey } from './journey';

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
export const upload: Journey = async (context, { customer, intendedAt, random }) => {
  const uploaded = await uploadMedia(customer, random() < 0.5 ? context.video : context.audio, intendedAt);
  if (uploaded === null) return false;
  context.onUploaded(customer, uploaded.assetId);
  return true;
};
