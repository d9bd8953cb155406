import { type S3Operation } from './operation';
import { invalidRequest } from './s3-error';
import { sendXml } from './send-xml';
import { type StoredObject } from './stored-object';
import { xmlDocument } from './xml';

const PAGE_MAX = 1000;

/** ListObjectsV2 with prefix, delimiter and pages. */
export const listObjects: S3Operation = async ({ request, response, store }) => {
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
