import { isIP } from 'node:net';
import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { isPublicAddress } from './address-policy';
import { ServiceError } from './errors';
import { URL_MAX_LENGTH } from './limits';

/**
 * Parses the URL of a video or audio file: https, port 443 only, public host, no user name or password. `place` is its place
 * in the body, such as `/video/url`.
 * @throws ServiceError invalid_media_url
 */
export function parseMediaUrl(raw: string, place: string): URL {
  return parseCustomerUrl(raw, place, { ports: 'https-443', errorCode: 'invalid_media_url' });
}

/**
 * Parses the URL that an event is sent to: https on any port, public host, no user name or password. `place` is its place in
 * the body, such as `/webhook_url`.
 * @throws ServiceError invalid_webhook_url
 */
export function parseWebhookUrl(raw: string, place: string): URL {
  return parseCustomerUrl(raw, place, { ports: 'any', errorCode: 'invalid_webhook_url' });
}

interface CustomerUrlPolicy {
  readonly ports: 'https-443' | 'any';
  readonly errorCode: ErrorCode;
}

/**
 * Parses a URL that a customer gave and applies the policy to the parsed result, in which odd forms of IPv4
 * (0x7f.1, 2130706433, full-width digits) have become plain addresses. The host of the result has no trailing dot.
 * @throws ServiceError with the policy's code; its message names the place in the body, the rule that was broken, and what
 * would be accepted
 */
function parseCustomerUrl(raw: string, place: string, { ports, errorCode }: CustomerUrlPolicy): URL {
  const refuse = (reason: string) =>
    new ServiceError(errorCode, { detail: `${place} ${reason}. ${ERROR_CATALOGUE[errorCode].message}` });
  if (raw.length > URL_MAX_LENGTH) throw refuse(`is longer than ${URL_MAX_LENGTH} characters`);
  if (!URL.canParse(raw)) throw refuse('is not a valid URL');
  const url = new URL(raw);
  if (url.protocol !== 'https:') throw refuse('must begin with https://');
  // The parser skips any number of slashes, and takes the first part of the path for the host.
  if (!/^https:\/\/[^\s/\\]/i.test(raw)) throw refuse('must name a host after https://');
  if (url.username !== '' || url.password !== '') throw refuse('must not contain a user name or password');
  // The parser drops the default port, so an explicit :443 is '' here.
  if (ports === 'https-443' && url.port !== '') throw refuse('must use port 443');
  if (!isPublicHost(url.hostname)) throw refuse('must name a public host');
  if (url.hostname.endsWith('.')) url.hostname = normalizeHost(url.hostname);
  return url;
}

/** Suffixes of names that only have a meaning inside a host or a cluster. */
const INTERNAL_SUFFIXES = ['.local', '.internal', '.localhost', '.svc', '.cluster.local'];
const HOSTNAME_MAX_LENGTH = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns the host in lower case, without the trailing dot of an absolute name and without the brackets of IPv6. */
function normalizeHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/**
 * Says whether a host, as taken from a parsed URL, can be on the public internet: a public literal address, or a name
 * of at least two labels outside the internal suffixes. The addresses that a name resolves to are checked again on
 * connecting.
 */
export function isPublicHost(hostname: string): boolean {
  const host = normalizeHost(hostname);
  if (isIP(host) !== 0) return isPublicAddress(host);
  const labels = host.split('.');
  return (
    host.length <= HOSTNAME_MAX_LENGTH &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !INTERNAL_SUFFIXES.some((suffix) => host.endsWith(suffix))
  );
}
