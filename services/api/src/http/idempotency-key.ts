import { IDEMPOTENCY_KEY_MAX_LENGTH, ServiceError } from '@lipsync/domain';

/**
 * The idempotency key of a request, from its header or its body; null when neither has one (an empty key counts as
 * none).
 *
 * @param headerValues every Idempotency-Key header that was sent, as node:http decodes them
 * @throws ServiceError invalid_idempotency_key, idempotency_key_mismatch
 */
export function resolveIdempotencyKey(
  headerValues: readonly string[],
  bodyValue: string | undefined,
): string | null {
  const [header = '', ...others] = headerValues.map(asUtf8);
  if (others.some((other) => other !== header)) throw new ServiceError('invalid_idempotency_key');
  const body = bodyValue ?? '';
  if ([header, body].some((key) => [...key].length > IDEMPOTENCY_KEY_MAX_LENGTH))
    throw new ServiceError('invalid_idempotency_key');
  if (header !== '' && body !== '' && header !== body) throw new ServiceError('idempotency_key_mismatch');
  return header || body || null;
}

/** node:http decodes header bytes as Latin-1, while the same key in a JSON body is UTF-8. */
function asUtf8(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}
