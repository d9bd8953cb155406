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

const KEY_BYTES_MAX = 1024;

/** Throws `InvalidURI` for a path that cannot be decoded and `KeyTooLongError` for an oversized key. */
export function parseS3Request(message: IncomingMessage): S3Request {
  const [rawPath = '/', search = ''] = (message.url ?? '/').split(/\?(.*)/s);
  const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(decode(rawPath)) ?? [];
  if (Buffer.byteLength(key) > KEY_BYTES_MAX)
    throw new S3Error(400, 'KeyTooLongError', 'Your key is too long');
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : (value ?? ''),
    ]),
  );
  const query = new URLSearchParams(search);
  return { method: message.method ?? 'GET', rawPath, bucket, key, query, headers, body: message };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI.");
  }
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
export const invalidRequest = (message: string) => new S3Error(400, 'InvalidRequest', message);
export const notImplemented = (message: string) => new S3Error(501, 'NotImplemented', message);
export const noSuchKey = () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
export const noSuchBucket = () => new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
export const preconditionFailed = () =>
  new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');

/** Sends a complete XML response. */
export function sendXml(response: ServerResponse, status: number, document: string): void {
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(document),
  });
  response.end(document);
}

/** Content of an element: text, or child elements (an array repeats the element). */
type XmlContent = string | number | boolean | { [element: string]: XmlContent | XmlContent[] };

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** A document with one root element in S3's namespace. */
export function xmlDocument(root: string, content: XmlContent): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${NAMESPACE}">${inner(content)}</${root}>`;
}

/** Like `xmlDocument`, but without a namespace, as in S3's errors. */
export function xmlError(content: XmlContent): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error>${inner(content)}</Error>`;
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
