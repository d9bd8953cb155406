import { type ErrorCode } from '@lipsync/contract';
import { URL_MAX_LENGTH } from './limits';
import { isPublicHost, normalizeHost } from './public-host';
import { ServiceError } from './service-error';

export interface CustomerUrlPolicy {
  readonly ports: 'https-443' | 'any';
  readonly errorCode: ErrorCode;
}

/**
 * Parses an address that a customer gave and applies the policy to the parsed result, in which odd forms of IPv4
 * (0x7f.1, 2130706433, full-width digits) have become plain addresses. The host of the result has no trailing dot.
 * @throws ServiceError with the policy's code; its message names the rule that was broken and the place in the body
 */
export function parseCustomerUrl(raw: string, place: string, { ports, errorCode }: CustomerUrlPolicy): URL {
  const refuse = (reason: string) => new ServiceError(errorCode, { detail: `${place} ${reason}.` });
  if (raw.length > URL_MAX_LENGTH) throw refuse(`is longer than ${URL_MAX_LENGTH} characters`);
  if (!URL.canParse(raw)) throw refuse('is not a valid URL');
  const url = new URL(raw);
  if (url.protocol !== 'https:') throw refuse('must begin with https://');
  // The parser skips any number of slashes, and takes the first part of the path for the host.
  if (!/^https:\/\/[^\s/\\]/i.test(raw)) throw refuse('must name a host after https://');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain user information');
  // The parser drops the default port, so an explicit :443 is '' here.
  if (ports === 'https-443' && url.port !== '') throw refuse('must use port 443');
  if (!isPublicHost(url.hostname)) throw refuse('must name a public host');
  if (url.hostname.endsWith('.')) url.hostname = normalizeHost(url.hostname);
  return url;
}
