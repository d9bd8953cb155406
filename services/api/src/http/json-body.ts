import { ServiceError } from '@lipsync/domain';

/**
 * Checks that a body claims to be JSON: application/json, in UTF-8 where a charset is named, not compressed.
 *
 * @throws ServiceError invalid_content_type
 */
export function requireJsonContentType(
  contentType: string | undefined,
  contentEncoding: string | undefined,
): void {
  const [type, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  const isPlain = contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity';
  const refuse = (detail?: string) =>
    new ServiceError('invalid_content_type', detail === undefined ? {} : { detail });
  if (type !== 'application/json') throw refuse();
  if (!isUtf8) throw refuse('Send the body in UTF-8: as application/json without another charset.');
  if (!isPlain) throw refuse('Send the body uncompressed, without Content-Encoding.');
}

/**
 * Parses a body that must be one JSON object.
 *
 * @throws ServiceError invalid_json for anything else: no bytes, bytes that are not UTF-8, other JSON values
 */
export function parseJsonObject(bytes: Buffer): object {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError('invalid_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ServiceError('invalid_json');
  return value;
}
