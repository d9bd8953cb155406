import { type WebhookEvent } from './resources';

/** The property of a webhook event that holds the record; `data.id` identifies the render or preparation. */
export const WEBHOOK_RECORD_FIELD = 'data' satisfies keyof WebhookEvent;
