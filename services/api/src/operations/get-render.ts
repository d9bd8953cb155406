import { type RecordResource } from '@lipsync/contract';
import { getRender as findRender, type RenderDetails } from '@lipsync/db';
import { renderRecord, SIGNED_URL_SECONDS, type SignedOutput } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler, pollHint } from './operation';

/** GET /v1/renders/{id} */
export function getRender(deps: ApiDeps): Handler {
  return async ({ customer, id }) => {
    const found = await findRender(deps.db, customer.id, id);
    return {
      body: await viewRender(deps, found),
      headers: pollHint(found.render.completedAt === null),
      resourceId: found.render.id,
    };
  };
}

/** A render as the contract defines it, with a newly signed download URL for every existing output. */
export async function viewRender(
  { storage, config }: ApiDeps,
  { render, runs, preparation, webhookEventId }: RenderDetails,
): Promise<RecordResource> {
  const outputs = new Map<string, SignedOutput>();
  for (const { id, engine, outputKey } of runs) {
    if (outputKey === null) continue;
    const signed = await storage.presignGet(outputKey, {
      filename: `${render.id}-${engine}.mp4`,
      contentType: 'video/mp4',
      expiresSeconds: SIGNED_URL_SECONDS,
    });
    outputs.set(id, signed);
  }
  return renderRecord(render, runs, preparation, { baseUrl: config.publicBaseUrl, webhookEventId, outputs });
}
