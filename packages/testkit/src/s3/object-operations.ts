import { type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  invalidRequest,
  noSuchKey,
  notImplemented,
  preconditionFailed,
  S3Error,
  type S3Request,
  sendXml,
  xmlDocument,
} from './protocol';
import { type BodyChecks, createBodyChecks, decodeAwsChunked } from './request-body';
import { type SignedClaim } from './signature';
import { type Store, type StoredObject } from './store';

/** The input of an operation: a request whose signature was verified. */
interface OperationContext {
  request: S3Request;
  claim: SignedClaim;
  response: ServerResponse;
  store: Store;
  /** Whether this request must be cut off in the middle. */
  reset: boolean;
}

/** Answers the request, or throws an `S3Error` before writing anything. */
export type S3Operation = (context: OperationContext) => Promise<void>;

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

const TRAILER_PAYLOAD = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';

/** PutObject: streams to disk, checks length and digests, then publishes atomically. */
export const putObject: S3Operation = async (context) => {
  const { request, claim, response, store } = context;
  const bucket = store.bucket(request.bucket);
  const conditions = { ifMatch: request.headers['if-match'], ifNoneMatch: request.headers['if-none-match'] };
  checkConditions(conditions, bucket.get(request.key));

  const expected = contentLength(request, claim.payloadHash);
  const checks = createBodyChecks(request, claim.payloadHash);
  const draft = await bucket.draft(receive(context, checks));
  try {
    if (draft.size !== expected) {
      throw new S3Error(400, 'IncompleteBody', 'You did not provide the number of bytes you announced.');
    }
    const object = await bucket.commit(
      draft,
      {
        key: request.key,
        etag: checks.finish(),
        contentType: request.headers['content-type'] ?? 'binary/octet-stream',
        metadata: metadataOf(request),
        modifiedAtMs: Date.now(),
        publicRead: isMadePublic(request),
      },
      (existing) => checkConditions(conditions, existing),
    );
    response.writeHead(200, { etag: `"${object.etag}"`, 'content-length': 0 }).end();
  } catch (error) {
    await bucket.discard(draft);
    throw error;
  }
};

/** The user metadata of a request: its `x-amz-meta-*` headers. */
function metadataOf(request: S3Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-')),
  );
}

/** Whether a request gives everybody the right to read what it stores, by a canned access list or a grant. */
function isMadePublic({ headers }: S3Request): boolean {
  return (
    headers['x-amz-acl']?.startsWith('public-read') === true ||
    headers['x-amz-grant-read']?.includes('/groups/global/AllUsers') === true
  );
}

function contentLength(request: S3Request, payloadHash: string): number {
  const name = payloadHash === TRAILER_PAYLOAD ? 'x-amz-decoded-content-length' : 'content-length';
  const length = request.headers[name];
  if (length === undefined || !/^\d+$/.test(length)) {
    throw new S3Error(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');
  }
  return Number(length);
}

async function* receive(context: OperationContext, checks: BodyChecks): AsyncGenerator<Buffer> {
  for await (const chunk of payload(context, checks)) {
    checks.update(chunk);
    yield chunk;
    if (context.reset) {
      context.response.socket?.resetAndDestroy();
      throw new Error('reset by the fault plan');
    }
  }
}

function payload({ request, claim }: OperationContext, checks: BodyChecks): AsyncIterable<Buffer> {
  const { payloadHash } = claim;
  if (payloadHash === TRAILER_PAYLOAD) {
    return decodeAwsChunked(request.body, (trailers) => checks.trailers(trailers));
  }
  if (payloadHash.startsWith('STREAMING-')) throw notImplemented(`This store does not read ${payloadHash}.`);
  return request.body;
}

/** CopyObject. Honours the conditions of both the source and the target. */
export const copyObject: S3Operation = async ({ request, response, store }) => {
  const { headers } = request;
  const source = parseSource(headers['x-amz-copy-source'] ?? '');
  const object = store.bucket(source.bucket).get(source.key);
  if (object === undefined) throw noSuchKey();
  checkConditions(
    {
      ifMatch: headers['x-amz-copy-source-if-match'],
      ifNoneMatch: headers['x-amz-copy-source-if-none-match'],
    },
    object,
  );
  const target = store.bucket(request.bucket);
  const replace = headers['x-amz-metadata-directive'] === 'REPLACE';
  const draft = await (source.bucket === request.bucket
    ? target.draftOf(object)
    : target.draft((await store.bucket(source.bucket).open(object)).createReadStream()));
  try {
    const copy = await target.commit(
      draft,
      {
        key: request.key,
        etag: object.etag,
        contentType: replace ? (headers['content-type'] ?? 'binary/octet-stream') : object.contentType,
        metadata: replace ? metadataOf(request) : object.metadata,
        modifiedAtMs: Date.now(),
        publicRead: isMadePublic(request),
      },
      (existing) =>
        checkConditions({ ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }, existing),
    );
    sendXml(
      response,
      200,
      xmlDocument('CopyObjectResult', {
        LastModified: new Date(copy.modifiedAtMs).toISOString(),
        ETag: `"${copy.etag}"`,
      }),
    );
  } catch (error) {
    await target.discard(draft);
    throw error;
  }
};

function parseSource(header: string): { bucket: string; key: string } {
  const match = /^\/?([^/]+)\/(.+)$/s.exec(decodeURIComponent(header));
  if (match === null) throw invalidRequest('The copy source is malformed.');
  const [, bucket = '', key = ''] = match;
  return { bucket, key };
}

/** Conditions on an object's current version. A missing value sets no condition. */
interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
}

/** Throws `PreconditionFailed` unless the conditions hold; an absent object matches no entity tag. */
function checkConditions(conditions: Conditions, existing: StoredObject | undefined): void {
  const { ifMatch, ifNoneMatch } = conditions;
  if (ifMatch !== undefined && !(existing !== undefined && matches(ifMatch, existing)))
    throw preconditionFailed();
  if (ifNoneMatch !== undefined && existing !== undefined && matches(ifNoneMatch, existing)) {
    throw preconditionFailed();
  }
}

function matches(condition: string, object: StoredObject): boolean {
  return condition
    .split(',')
    .map((tag) => tag.trim().replace(/^"|"$/g, ''))
    .some((tag) => tag === '*' || tag === object.etag);
}

/** DeleteObject. Deleting a missing object succeeds. */
export const deleteObject: S3Operation = async ({ request, response, store }) => {
  await store.bucket(request.bucket).remove(request.key);
  response.writeHead(204).end();
};
