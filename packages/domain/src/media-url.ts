import { parseCustomerUrl } from './customer-url';

/**
 * Parses the URL of a video or audio file: https, port 443 only, public host, no user information. `place` is its place
 * in the body, such as `/video/url`.
 * @throws ServiceError invalid_media_url
 */
export function parseMediaUrl(raw: string, place: string): URL {
  return parseCustomerUrl(raw, place, { ports: 'https-443', errorCode: 'invalid_media_url' });
}
