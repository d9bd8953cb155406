import { type IncomingMessage, type ServerResponse } from 'node:http';

const PREFLIGHT_SECONDS = 3000;

/** Lets any page send signed requests, as a bucket open to browser uploads is configured. */
export function allowBrowsers(message: IncomingMessage, response: ServerResponse): void {
  if (message.headers.origin === undefined) return;
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', 'etag, x-amz-request-id');
}

/** Answers a preflight request; it is never signed. */
export function answerPreflight(message: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    'access-control-allow-methods': 'GET, PUT, HEAD, POST, DELETE',
    'access-control-allow-headers': message.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(PREFLIGHT_SECONDS),
    'content-length': 0,
  });
  response.end();
}
