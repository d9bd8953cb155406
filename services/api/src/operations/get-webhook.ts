import { getDeliveryByEvent } from '@lipsync/db';
import { deliveryResource } from '@lipsync/domain';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';

/** GET /v1/webhooks/{id}: the newest delivery of an event. */
export function getWebhook({ db }: ApiDeps): Handler {
  return async ({ customer, id }) => {
    const { event, delivery } = await getDeliveryByEvent(db, customer.id, id);
    return { body: deliveryResource(event, delivery), resourceId: event.id };
  };
}
