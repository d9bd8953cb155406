import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { type S3Operation } from './operation';
import { notImplemented, sendXml } from './protocol';

const PAGE_MAX = 1000;

/** PutBucketVersioning: versions are kept from now on. Once on, it stays on. */
export const setVersioning: S3Operation = async ({ request, response, store }) => {
  const wanted = await text(request.body);
  if (!wanted.includes('<Status>Enabled</Status>')) throw notImplemented('suspended versioning');
  await store.bucket(request.bucket).keepVersions();
  response.writeHead(200, { 'content-length': 0 }).end();
};

/** ListObjectVersions with a prefix, page by page. */
export const listVersions: S3Operation = ({ request, response, store }) => {
  const { query } = request;
  const all = store.bucket(request.bucket).versions(query.get('prefix') ?? '');
  const keyMarker = query.get('key-marker');
  const versionMarker = query.get('version-id-marker');
  const last = all.findLastIndex(
    ({ key, versionId }) => key === keyMarker && (versionMarker === null || versionId === versionMarker),
  );
  const found = all.slice(last + 1);
  const page = found.slice(0, Math.min(PAGE_MAX, Number(query.get('max-keys') ?? PAGE_MAX)));
  const isTruncated = page.length < found.length;
  const end = page.at(-1);
  const described = page.map((version) => ({
    isMarker: 'isMarker' in version,
    entry: {
      Key: version.key,
      VersionId: version.versionId,
      IsLatest: all.find(({ key }) => key === version.key) === version,
      LastModified: new Date(version.modifiedAtMs).toISOString(),
      ...('isMarker' in version ? {} : { ETag: `"${version.etag}"`, Size: version.size }),
    },
  }));
  sendXml(response, 200, 'ListVersionsResult', {
    IsTruncated: isTruncated,
    ...(isTruncated && end ? { NextKeyMarker: end.key, NextVersionIdMarker: end.versionId } : {}),
    Version: described.filter((each) => !each.isMarker).map(({ entry }) => entry),
    DeleteMarker: described.filter((each) => each.isMarker).map(({ entry }) => entry),
  });
};

/** CreateMultipartUpload. This store takes no parts: what is begun can be listed and aborted. */
export const createMultipart: S3Operation = ({ request, response, store }) => {
  const uploadId = randomUUID();
  store.bucket(request.bucket).multipartUploads.set(uploadId, request.key);
  sendXml(response, 200, 'InitiateMultipartUploadResult', {
    Bucket: request.bucket,
    Key: request.key,
    UploadId: uploadId,
  });
};

/** ListMultipartUploads with a prefix, in one page. */
export const listMultipart: S3Operation = ({ request, response, store }) => {
  const prefix = request.query.get('prefix') ?? '';
  const uploads = [...store.bucket(request.bucket).multipartUploads];
  sendXml(response, 200, 'ListMultipartUploadsResult', {
    IsTruncated: false,
    Upload: uploads
      .filter(([, key]) => key.startsWith(prefix))
      .map(([uploadId, key]) => ({ Key: key, UploadId: uploadId })),
  });
};

/** AbortMultipartUpload. */
export const abortMultipart: S3Operation = ({ request, response, store }) => {
  store.bucket(request.bucket).multipartUploads.delete(request.query.get('uploadId') ?? '');
  response.writeHead(204).end();
};
