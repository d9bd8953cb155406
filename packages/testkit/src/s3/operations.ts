import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { corsContent, parseCors } from './cors';
import { type OperationContext, type S3Operation } from './operation';
import { notImplemented, S3Error, type S3Request, sendXml } from './protocol';
import { type BucketDirectory, type StoredObject } from './store';
import { abortMultipart, createMultipart, listMultipart, listVersions, setVersioning } from './versions';

/** The operation for a request. Throws `NotImplemented`. */
export function route({ method, bucket, key, query, headers }: S3Request): S3Operation {
  const operations: Readonly<Record<string, S3Operation>> =
    key === ''
      ? bucketOperations(query)
      : {
          GET: getObject,
          HEAD: getObject,
          DELETE: query.has('uploadId') ? abortMultipart : deleteObject,
          ...(query.has('uploads') ? { POST: createMultipart } : {}),
          PUT: headers['x-amz-copy-source'] === undefined ? putObject : copyObject,
        };
  const operation = operations[method];
  if (bucket === '' || operation === undefined) throw notImplemented(`${method} of this`);
  return operation;
}

/** The operations on a bucket itself, or on what the query names of it. */
function bucketOperations(query: URLSearchParams): Readonly<Record<string, S3Operation>> {
  if (query.has('cors')) return { GET: getCors, PUT: putCors };
  if (query.has('versioning')) return { PUT: setVersioning };
  if (query.has('versions')) return { GET: listVersions };
  if (query.has('uploads')) return { GET: listMultipart };
  return { GET: listObjects, PUT: createBucket, HEAD: headBucket };
}

/** CreateBucket. An own bucket that already exists is not an error, as in S3's oldest region. */
const createBucket: S3Operation = async ({ request, response, store }) => {
  await store.createBucket(request.bucket);
  response.writeHead(200, { 'content-length': 0 }).end();
};

const headBucket: S3Operation = ({ request, response, store }) => {
  store.bucket(request.bucket);
  response.writeHead(200, { 'content-length': 0 }).end();
};

/** PutBucketCors: replaces all rules. */
const putCors: S3Operation = async ({ request, response, store }) => {
  const bucket = store.bucket(request.bucket);
  await bucket.setCorsRules(parseCors(await text(request.body)));
  response.writeHead(200, { 'content-length': 0 }).end();
};

const getCors: S3Operation = ({ request, response, store }) => {
  const rules = store.bucket(request.bucket).corsRules();
  if (rules.length === 0)
    throw new S3Error(404, 'NoSuchCORSConfiguration', 'The CORS configuration does not exist');
  sendXml(response, 200, 'CORSConfiguration', corsContent(rules));
};

const PAGE_MAX = 1000;

/** ListObjectsV2 with a prefix, page by page: the token is the last key of the page before. */
const listObjects: S3Operation = ({ request, response, store }) => {
  const { query } = request;
  const after = query.get('continuation-token') ?? '';
  const found = store.bucket(request.bucket).list(query.get('prefix') ?? '', after);
  const page = found.slice(0, Math.min(PAGE_MAX, Number(query.get('max-keys') ?? PAGE_MAX)));
  const isTruncated = page.length < found.length;
  sendXml(response, 200, 'ListBucketResult', {
    IsTruncated: isTruncated,
    ...(isTruncated ? { NextContinuationToken: page.at(-1)?.key ?? '' } : {}),
    Contents: page.map(({ key, modifiedAtMs, etag, size }) => ({
      Key: key,
      LastModified: new Date(modifiedAtMs).toISOString(),
      ETag: `"${etag}"`,
      Size: size,
    })),
  });
};

/** Throws `NoSuchKey`. */
function find(bucket: BucketDirectory, key: string): StoredObject {
  const object = bucket.get(key);
  if (object === undefined) throw new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
  return object;
}

/** Response headers that the query of a signed request may set. */
const OVERRIDES = ['content-type', 'content-disposition', 'cache-control'];

/** GetObject and HeadObject, whole or one range. */
async function getObject({ request, response, store, reset }: OperationContext): Promise<void> {
  const bucket = store.bucket(request.bucket);
  const object = find(bucket, request.key);
  const range = parseRange(request.headers['range'], object.size);
  const { first, last } = range ?? { first: 0, last: object.size - 1 };
  const headers: Record<string, string | number> = {
    'accept-ranges': 'bytes',
    'content-type': object.contentType,
    'content-length': last - first + 1,
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.modifiedAtMs).toUTCString(),
    ...(range === undefined ? {} : { 'content-range': `bytes ${first}-${last}/${object.size}` }),
  };
  for (const name of OVERRIDES) {
    const override = request.query.get(`response-${name}`);
    if (override !== null) headers[name] = override;
  }
  response.writeHead(range === undefined ? 200 : 206, headers);
  if (request.method === 'HEAD' || object.size === 0) return void response.end();
  const middle = first + Math.floor((last - first) / 2);
  const bytes = bucket.read(object, { start: first, end: reset ? middle : last });
  await pipeline(bytes, response, { end: !reset });
  if (reset) response.socket?.resetAndDestroy();
}

/** Undefined if there is no range, or one that this store ignores. Throws `InvalidRange` if it begins past the end. */
function parseRange(header: string | undefined, size: number): { first: number; last: number } | undefined {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const first = Number(match[1]);
  const last = match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (first >= size) throw new S3Error(416, 'InvalidRange', 'The requested range is not satisfiable');
  return last < first ? undefined : { first, last };
}

/** PutObject: streams to disk, checks the signed digest, then publishes atomically. */
const putObject: S3Operation = async ({ request, payloadHash, response, store, reset }) => {
  const bucket = store.bucket(request.bucket);
  const declared = [...Object.keys(request.headers), ...request.query.keys()];
  // A signed address that fixes a checksum would refuse every upload, so a client that begins to send them must notice.
  if (payloadHash?.startsWith('STREAMING-') || declared.some((name) => /^x-amz-checksum-/i.test(name)))
    throw notImplemented('checksums');
  if (request.headers['content-length'] === undefined)
    throw new S3Error(411, 'MissingContentLength', 'You must provide the Content-Length HTTP header.');

  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  const receive = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      md5.update(chunk);
      sha256.update(chunk);
      yield chunk;
      if (!reset) continue;
      response.socket?.resetAndDestroy();
      throw new Error('reset by the fault plan');
    }
  };
  const draft = await bucket.draft(receive(request.body));
  const digest = sha256.digest('hex');
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && payloadHash !== digest) {
    await bucket.discard(draft);
    throw new S3Error(400, 'XAmzContentSHA256Mismatch', 'The content hash does not match the body.');
  }
  const etag = md5.digest('hex');
  const contentType = request.headers['content-type'] ?? 'binary/octet-stream';
  await bucket.commit(draft, { key: request.key, etag, contentType, publicRead: isMadePublic(request) });
  response.writeHead(200, { etag: `"${etag}"`, 'content-length': 0 }).end();
};

/** Whether a request gives everybody the right to read what it stores, by a canned access list or a grant. */
function isMadePublic({ headers }: S3Request): boolean {
  return (
    headers['x-amz-acl']?.startsWith('public-read') === true ||
    headers['x-amz-grant-read']?.includes('/groups/global/AllUsers') === true
  );
}

/** CopyObject within a bucket, if the source is the version that the request names. */
const copyObject: S3Operation = async ({ request, response, store }) => {
  const { bucket: name, key, headers } = request;
  const path = decodeURIComponent(headers['x-amz-copy-source'] ?? '').replace(/^\//, '');
  if (!path.startsWith(`${name}/`)) throw notImplemented('copies from another bucket');
  const bucket = store.bucket(name);
  const source = find(bucket, path.slice(name.length + 1));
  const { etag, contentType } = source;
  const wanted = headers['x-amz-copy-source-if-match'];
  if (wanted !== undefined && wanted.replaceAll('"', '') !== etag)
    throw new S3Error(412, 'PreconditionFailed', 'A pre-condition that you specified did not hold');
  const draft = await bucket.draftOf(source);
  const publicRead = isMadePublic(request);
  const { modifiedAtMs } = await bucket.commit(draft, { key, etag, contentType, publicRead });
  sendXml(response, 200, 'CopyObjectResult', {
    LastModified: new Date(modifiedAtMs).toISOString(),
    ETag: `"${etag}"`,
  });
};

/** DeleteObject, or one version of it. Deleting a missing object succeeds. */
const deleteObject: S3Operation = async ({ request, response, store }) => {
  const bucket = store.bucket(request.bucket);
  const versionId = request.query.get('versionId');
  await (versionId === null ? bucket.remove(request.key) : bucket.removeVersion(request.key, versionId));
  response.writeHead(204).end();
};
