import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { withController } from '@lipsync/runtime';
import { mapErrors } from './storage-error';
import { tryAgain } from './try-again';

/** Bytes in memory, or a file that does not change meanwhile. */
export type PutSource = Uint8Array | { file: string };

export interface PutOptions {
  contentType: string;
  signal?: AbortSignal;
}

/** Writes an object. Resolves when it is stored. A file is streamed, and sent again from its start after a failure. */
export async function put(
  { client, bucket }: { client: S3Client; bucket: string },
  key: string,
  source: PutSource,
  { contentType, signal }: PutOptions,
): Promise<void> {
  const length = 'file' in source ? (await stat(source.file)).size : source.length;
  await tryAgain(signal, () =>
    withBody(source, signal, (body, abortSignal) =>
      mapErrors('put', signal, () =>
        client.send(
          new PutObjectCommand({
            Bucket: bucket,
            Key: key,
            Body: body,
            ContentLength: length,
            ContentType: contentType,
          }),
          { abortSignal },
        ),
      ),
    ),
  );
}

/**
 * Runs `send` with the body and a signal that follows `signal` and is aborted if the file of the body cannot be read.
 * The SDK does not listen for that error, and unhandled it would end the process. In that case this throws the error of
 * the file.
 */
function withBody(
  source: PutSource,
  signal: AbortSignal | undefined,
  send: (body: Uint8Array | ReadStream, signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  return withController({ signal }, async (broken) => {
    if (!('file' in source)) return send(source, broken.signal);
    const body = createReadStream(source.file);
    body.once('error', (error) => broken.abort(error));
    try {
      await send(body, broken.signal);
    } catch (error) {
      broken.signal.throwIfAborted();
      throw error;
    } finally {
      body.destroy();
    }
  });
}
