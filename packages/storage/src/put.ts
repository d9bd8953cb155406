import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { mapErrors } from './storage-error';
import { tryAgain } from './try-again';

/** Bytes in memory or a file that does not change meanwhile. */
export type PutSource = Uint8Array | { file: string };

export interface PutOptions {
  contentType: string;
  signal?: AbortSignal;
}

/** Writes an object; resolves when it is stored. A file is streamed and sent again from its start after a failure. */
export async function put(
  { client, bucket }: { client: S3Client; bucket: string },
  key: string,
  source: PutSource,
  { contentType, signal }: PutOptions,
): Promise<void> {
  const length = 'file' in source ? (await stat(source.file)).size : source.length;
  await tryAgain(signal, () =>
    mapErrors('put', signal, async () => {
      const body = 'file' in source ? createReadStream(source.file) : source;
      try {
        await client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: key,
            Body: body,
            ContentLength: length,
            ContentType: contentType,
          }),
          signal === undefined ? {} : { abortSignal: signal },
        );
      } finally {
        if ('destroy' in body) body.destroy();
      }
    }),
  );
}
