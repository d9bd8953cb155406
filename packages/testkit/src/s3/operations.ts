import { copyObject, deleteObject, getObject, putObject, type S3Operation } from './object-operations';
import { invalidRequest, notImplemented, type S3Request, sendXml, xmlDocument } from './protocol';
import { type StoredObject } from './store';

/** Sub-resources of operations that this store does not have. */
const FOREIGN = [
  'uploads',
  'uploadId',
  'acl',
  'tagging',
  'versioning',
  'policy',
  'lifecycle',
  'cors',
  'location',
];

/** The operation for a request. Throws `NotImplemented`. */
export function route(request: S3Request): S3Operation {
  const operation = FOREIGN.some((name) => request.query.has(name))
    ? undefined
    : request.key === ''
      ? bucketOperation(request)
      : objectOperation(request);
  if (request.bucket === '' || operation === undefined) {
    throw notImplemented('A header or method you provided implies functionality that is not implemented.');
  }
  return operation;
}

function bucketOperation({ method }: S3Request): S3Operation | undefined {
  if (method === 'GET') return listObjects;
  if (method === 'PUT') return createBucket;
  return method === 'HEAD' ? headBucket : undefined;
}

function objectOperation({ method, headers }: S3Request): S3Operation | undefined {
  if (method === 'GET' || method === 'HEAD') return getObject;
  if (method === 'DELETE') return deleteObject;
  if (method !== 'PUT') return undefined;
  return headers['x-amz-copy-source'] === undefined ? putObject : copyObject;
}

/** CreateBucket. An own bucket that already exists is not an error, as in S3's oldest region. */
const createBucket: S3Operation = async ({ request, response, store }) => {
  await store.createBucket(request.bucket);
  response.writeHead(200, { location: `/${request.bucket}`, 'content-length': 0 }).end();
};

const headBucket: S3Operation = async ({ request, response, store }) => {
  store.bucket(request.bucket);
  response.writeHead(200, { 'content-length': 0 }).end();
};

const PAGE_MAX = 1000;

/** ListObjectsV2 with prefix, delimiter and pages. */
const listObjects: S3Operation = async ({ request, response, store }) => {
  const { query } = request;
  if (query.get('list-type') !== '2') throw invalidRequest('Only version 2 of listing is offered.');
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const token = query.get('continuation-token');
  const after =
    token === null ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString('utf8');
  const limit = Math.min(PAGE_MAX, Number(query.get('max-keys') ?? PAGE_MAX));
  const encode = query.get('encoding-type') === 'url' ? encodeURIComponent : (text: string) => text;

  const contents: StoredObject[] = [];
  const groups = new Set<string>();
  let lastSeen = '';
  let truncated = false;
  for (const object of store.bucket(request.bucket).list()) {
    if (!object.key.startsWith(prefix) || compare(object.key, after) <= 0) continue;
    const group = groupOf(object.key, prefix, delimiter);
    // A group that an earlier page has listed is not listed again.
    if (group !== null && (groups.has(group) || after.startsWith(group))) {
      lastSeen = object.key;
      continue;
    }
    if (contents.length + groups.size >= limit) {
      truncated = true;
      break;
    }
    if (group === null) contents.push(object);
    else groups.add(group);
    lastSeen = object.key;
  }
  const document = xmlDocument('ListBucketResult', {
    Name: request.bucket,
    Prefix: encode(prefix),
    KeyCount: contents.length + groups.size,
    MaxKeys: limit,
    IsTruncated: truncated,
    ...(truncated ? { NextContinuationToken: Buffer.from(lastSeen, 'utf8').toString('base64url') } : {}),
    Contents: contents.map((object) => ({
      Key: encode(object.key),
      LastModified: new Date(object.modifiedAtMs).toISOString(),
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: [...groups].map((group) => ({ Prefix: encode(group) })),
  });
  sendXml(response, 200, document);
};

function groupOf(key: string, prefix: string, delimiter: string): string | null {
  if (delimiter === '') return null;
  const end = key.indexOf(delimiter, prefix.length);
  return end < 0 ? null : key.slice(0, end + delimiter.length);
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
