import { type IncomingMessage } from 'node:http';
import { S3Error } from './s3-error';

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
