import { parseCustomerUrl } from './customer-url';

/**
 * Parses the URL that an event is sent to: https on any port, public host, no user information. `place` is its place in
 * the body, such as `/webhook_url`.
 * @throws ServiceError invalid_webhook_url
 */
export function parseWebhookUrl(raw: string, place: string): URL {
  return parseCustomerUrl(raw, place, { ports: 'any', errorCode: 'invalid_webhook_url' });
}
