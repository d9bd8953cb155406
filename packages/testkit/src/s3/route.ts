import { createBucket, headBucket } from './bucket-operations';
import { copyObject } from './copy-object';
import { deleteObject } from './delete-object';
import { getObject } from './get-object';
import { listObjects } from './list-objects';
import { type S3Operation } from './operation';
import { putObject } from './put-object';
import { notImplemented } from './s3-error';
import { type S3Request } from './s3-request';

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
