import { type RecordResource } from '@lipsync/contract';
import { type RenderDetails } from '@lipsync/db';
import { renderRecord, SIGNED_URL_SECONDS, type SignedOutput } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';

/** A render as the contract shows it, with freshly signed download addresses for every output there is. */
export async function viewRender(
  { storage, clock, config }: Pick<ApiDeps, 'storage' | 'clock' | 'config'>,
  { render, runs, preparation, webhookEventId }: RenderDetails,
): Promise<RecordResource> {
  const outputs = new Map<string, SignedOutput>();
  for (const { id, engine, outputKey } of runs) {
    if (outputKey === null) continue;
    // Taken before signing: an address is never said to live longer than it does.
    const expiresAt = new Date(clock.now() + SIGNED_URL_SECONDS * 1000);
    const url = await storage.presignGet(outputKey, {
      filename: `${render.id}-${engine}.mp4`,
      contentType: 'video/mp4',
      expiresSeconds: SIGNED_URL_SECONDS,
    });
    outputs.set(id, { url, expiresAt });
  }
  return renderRecord(render, runs, preparation, { baseUrl: config.publicBaseUrl, webhookEventId, outputs });
}
