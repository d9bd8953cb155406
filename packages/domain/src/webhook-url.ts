import { parseCustomerUrl } from './customer-url';

/**
 * Parses the address that an event is sent to: https on any port, public host, no user information.
 * @throws ServiceError invalid_webhook_url
 */
export function parseWebhookUrl(raw: string): URL {
  return parseCustomerUrl(raw, { ports: 'any', errorCode: 'invalid_webhook_url' });
}
