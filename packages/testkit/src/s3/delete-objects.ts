import { createBodyChecks } from './body-checks';
import { type S3Operation } from './operation';
import { S3Error } from './s3-error';
import { sendXml } from './send-xml';
import { elementTexts, xmlDocument } from './xml';

const KEYS_MAX = 1000;
const BODY_BYTES_MAX = 2 * 1024 * 1024;

/** DeleteObject. Deleting a missing object succeeds. */
export const deleteObject: S3Operation = async ({ request, response, store }) => {
  await store.bucket(request.bucket).remove(request.key);
  response.writeHead(204).end();
};

/** DeleteObjects: up to 1000 keys in one request. */
export const deleteObjects: S3Operation = async ({ request, claim, response, store }) => {
  const bucket = store.bucket(request.bucket);
  const checks = createBodyChecks(request, claim.payloadHash);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX)
      throw new S3Error(400, 'MaxMessageLengthExceeded', 'Your request was too big.');
    checks.update(chunk);
    chunks.push(chunk);
  }
  checks.finish();
  const body = Buffer.concat(chunks).toString('utf8');
  const keys = elementTexts(body, 'Key');
  if (keys.length === 0 || keys.length > KEYS_MAX) {
    throw new S3Error(400, 'MalformedXML', 'The XML you provided was not well-formed.');
  }
  for (const key of keys) await bucket.remove(key);
  const quiet = elementTexts(body, 'Quiet')[0] === 'true';
  sendXml(response, 200, xmlDocument('DeleteResult', { Deleted: quiet ? [] : keys.map((Key) => ({ Key })) }));
};
