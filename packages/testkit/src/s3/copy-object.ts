import { checkConditions } from './conditions';
import { type S3Operation } from './operation';
import { isMadePublic, metadataOf } from './put-object';
import { invalidRequest, noSuchKey } from './s3-error';
import { sendXml } from './send-xml';
import { xmlDocument } from './xml';

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
