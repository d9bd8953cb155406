import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { SECURITY_HEADERS } from './http/security-headers';

const STATUS = 400;
const BODY = JSON.stringify({
  error: {
    code: 'invalid_request',
    message: 'The bytes received are not a well-formed HTTP request within the size and time limits.',
    retryable: ERROR_CATALOGUE.invalid_request.retryable,
  },
});

/** Headers of every such response. Nothing in a malformed request is trusted, not even its X-Request-Id. */
function headers(): Record<string, string> {
  return {
    'X-Request-Id': randomUUID(),
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(BODY)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
}

/** The response to bytes that are not an HTTP request: no request object exists that a handler could be given. */
export function malformedAnswer(): string {
  const lines = Object.entries(headers()).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${STATUS} ${STATUS_CODES[STATUS]}`, ...lines, '', BODY].join('\r\n');
}

/** The same response to a request that could be parsed but that HTTP does not allow. */
export function refuseMalformed(res: ServerResponse): void {
  res.writeHead(STATUS, headers()).end(BODY);
}
