import { parseCustomerUrl } from './customer-url';

/**
 * Parses the address of a video or audio file: https, port 443 only, public host, no user information.
 * @throws ServiceError invalid_media_url
 */
export function parseMediaUrl(raw: string): URL {
  return parseCustomerUrl(raw, { ports: 'https-443', errorCode: 'invalid_media_url' });
}
