import { getPreparation as findPreparation } from '@lipsync/db';
import { preparationRecord } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler, pollHint } from './operation';

/** GET /v1/preparations/{id} */
export function getPreparation({ db, config }: ApiDeps): Handler {
  return async ({ customer, id }) => {
    const { preparation, webhookEventId } = await findPreparation(db, customer.id, id);
    return {
      body: preparationRecord(preparation, { baseUrl: config.publicBaseUrl, webhookEventId }),
      headers: pollHint(preparation.completedAt === null),
      resourceId: preparation.id,
    };
  };
}
