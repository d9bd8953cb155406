import { type IncomingMessage, type ServerResponse } from 'node:http';

const PREFLIGHT_SECONDS = 3000;

/** Lets any page send signed requests, like a bucket that is configured for browser uploads. */
export function allowBrowsers(message: IncomingMessage, response: ServerResponse): void {
  if (message.headers.origin === undefined) return;
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', 'etag, x-amz-request-id');
}

/** Answers a preflight request, which is never signed. */
export function answerPreflight(message: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    'access-control-allow-methods': 'GET, PUT, HEAD, POST, DELETE',
    'access-control-allow-headers': message.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(PREFLIGHT_SECONDS),
    'content-length': 0,
  });
  response.end();
}
