import { pipeline } from 'node:stream/promises';
import { checkConditions } from './conditions';
import { type OperationContext } from './operation';
import { noSuchKey, S3Error } from './s3-error';
import { type S3Request } from './s3-request';
import { type StoredObject } from './stored-object';

/** Response headers that the query of a signed request may set. */
const OVERRIDES = [
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'cache-control',
  'expires',
] as const;

/** GetObject and HeadObject, whole or one range. */
export async function getObject({
  request,
  response,
  store,
  reset,
}: Omit<OperationContext, 'claim'>): Promise<void> {
  const bucket = store.bucket(request.bucket);
  const object = bucket.get(request.key);
  if (object === undefined) throw noSuchKey();
  checkConditions({ ifMatch: request.headers['if-match'], ifNoneMatch: undefined }, object);

  const range = parseRange(request.headers['range'], object.size);
  const { first, last } = range ?? { first: 0, last: object.size - 1 };
  const headers = {
    ...headersOf(object, request),
    'content-length': last - first + 1,
    ...(range === null ? {} : { 'content-range': `bytes ${first}-${last}/${object.size}` }),
  };
  const status = range === null ? 200 : 206;
  if (request.method === 'HEAD' || object.size === 0) {
    response.writeHead(status, headers).end();
    return;
  }
  const file = await bucket.open(object);
  const middle = first + Math.floor((last - first) / 2);
  const bytes = file.createReadStream({ start: first, end: reset ? middle : last });
  response.writeHead(status, headers);
  if (!reset) return pipeline(bytes, response);
  await pipeline(bytes, response, { end: false });
  response.socket?.resetAndDestroy();
}

function headersOf(object: StoredObject, request: S3Request): Record<string, string> {
  const headers: Record<string, string> = {
    ...object.metadata,
    'accept-ranges': 'bytes',
    'content-type': object.contentType,
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.modifiedAtMs).toUTCString(),
  };
  for (const name of OVERRIDES) {
    const value = request.query.get(`response-${name}`);
    if (value !== null) headers[name] = value;
  }
  return headers;
}

/**
 * Returns null if there is no range, or one that S3 ignores. Throws `InvalidRange` if it is entirely outside the
 * object.
 */
function parseRange(header: string | undefined, size: number): { first: number; last: number } | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || match[0] === 'bytes=-') return null;
  const [, from = '', to = ''] = match;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (first >= size || (from === '' && Number(to) === 0)) {
    throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable');
  }
  return last < first ? null : { first, last };
}
