import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { mapErrors } from './storage-error';

/** All keys with this prefix, page by page. */
export async function* listKeys(
  { client, bucket }: { client: S3Client; bucket: string },
  prefix: string,
): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    const page = await mapErrors('list', undefined, () => client.send(command));
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
    token = page.NextContinuationToken;
  } while (token !== undefined);
}
