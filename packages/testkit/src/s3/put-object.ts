import { decodeAwsChunked } from './aws-chunked';
import { type BodyChecks, createBodyChecks } from './body-checks';
import { checkConditions } from './conditions';
import { type OperationContext, type S3Operation } from './operation';
import { notImplemented, S3Error } from './s3-error';
import { type S3Request } from './s3-request';

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
export function metadataOf(request: S3Request): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-')),
  );
}

/** Whether a request gives everybody the right to read what it stores, by a canned access list or a grant. */
export function isMadePublic({ headers }: S3Request): boolean {
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
