import { type ServerResponse } from 'node:http';

/** Sends a complete XML response. */
export function sendXml(response: ServerResponse, status: number, document: string): void {
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(document),
  });
  response.end(document);
}
