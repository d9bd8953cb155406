import { type IncomingMessage, type ServerResponse } from 'node:http';
import { conforms, ERROR_CATALOGUE, type SchemaName, type Schemas, validate } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';

/** A client that keeps sending a refused body is disconnected after this many bytes. */
const DISCARD_MAX_BYTES = 1_048_576;

/** The caller hung up before the request was complete, so there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}

/**
 * Reads the request's body, at most `maxBytes`. A larger one is refused by its Content-Length before a byte is read, or
 * while streaming when it declares no length.
 *
 * @throws ServiceError body_too_large
 * @throws ClientGone when the connection closes first
 */
export async function readBody(req: IncomingMessage, res: ServerResponse, maxBytes: number): Promise<Buffer> {
  // The client hung up before any listener was attached, so none of the events below would ever fire.
  if (req.destroyed) throw new ClientGone();
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
    discard(req);
    throw new ServiceError('body_too_large');
  }
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) {
        settle();
        discard(req);
        reject(new ServiceError('body_too_large'));
      }
    };
    const onEnd = (): void => {
      settle();
      resolve(Buffer.concat(chunks));
    };
    const onClose = (): void => {
      settle();
      reject(new ClientGone());
    };
    const settle = (): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
    };
    // A reset emits 'error' and then 'close'; 'error' needs a listener for as long as the request lives.
    req.on('error', () => undefined);
    req.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/**
 * Reads and discards the rest of a refused body, within a limit. Closing the socket with unread bytes would reset the
 * connection, and the client would see the reset instead of the response.
 */
function discard(req: IncomingMessage): void {
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DISCARD_MAX_BYTES) req.socket.destroy();
  });
}

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
  if (!isUtf8) throw refuse('Send the body as UTF-8: application/json without another charset.');
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

/**
 * The body, typed as the contract defines it.
 *
 * @throws ServiceError with the code of the first violation, naming its location and reason
 */
export function requireBody<Name extends SchemaName>(name: Name, body: unknown): Schemas[Name] {
  if (conforms(name, body)) return body;
  const violation = validate(name, body);
  if (violation.ok) throw new Error(`${name} is valid and invalid`);
  const place = `${violation.path || 'The body'} ${violation.reason}.`;
  // Codes other than invalid_request have a catalogue message that says what would be accepted.
  const advice = violation.code === 'invalid_request' ? '' : ` ${ERROR_CATALOGUE[violation.code].message}`;
  throw new ServiceError(violation.code, { detail: `${place}${advice}` });
}
