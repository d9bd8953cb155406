import { type IncomingMessage, type ServerResponse } from 'node:http';

/** A parsed request: path-style addressing, header names in lower case. */
export interface S3Request {
  method: string;
  /** As sent, still percent-encoded, because this is what was signed. */
  rawPath: string;
  bucket: string;
  /** Empty for requests on the bucket itself. */
  key: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  body: IncomingMessage;
}

export function parseS3Request(message: IncomingMessage): S3Request {
  const [rawPath = '/', search = ''] = (message.url ?? '/').split(/\?(.*)/s);
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(decodeURIComponent(rawPath)) ?? [];
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, String(value ?? '')]),
  );
  const query = new URLSearchParams(search);
  return { method: message.method ?? 'GET', rawPath, bucket, key, query, headers, body: message };
}

/** An error response of the store, in S3's terms. */
export class S3Error extends Error {
  override readonly name = 'S3Error';

  constructor(
    readonly status: number,
    /** S3's error code, e.g. `NoSuchKey`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export const accessDenied = (message: string) => new S3Error(403, 'AccessDenied', message);
export const notImplemented = (what: string) =>
  new S3Error(501, 'NotImplemented', `This store does not offer ${what}.`);

/** Content of an element: text, or child elements (an array repeats the element). */
export type XmlContent = string | number | boolean | { [element: string]: XmlContent | XmlContent[] };

/** Sends a complete XML document with one root element. */
export function sendXml(response: ServerResponse, status: number, root: string, content: XmlContent): void {
  const document = `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${inner(content)}</${root}>`;
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(document),
  });
  response.end(document);
}

function inner(content: XmlContent): string {
  if (typeof content !== 'object') return escape(String(content));
  return Object.entries(content)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => `<${name}>${inner(item)}</${name}>`),
    )
    .join('');
}

function escape(text: string): string {
  return text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
