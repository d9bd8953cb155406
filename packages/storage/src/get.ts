import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { sendOptions } from './send-options';
import { mapErrors, StorageError } from './storage-error';
import { tryAgain } from './try-again';

interface Source {
  client: S3Client;
  bucket: string;
}

export interface GetOptions {
  readonly signal?: AbortSignal;
  /** Number of leading bytes to read, at least one. By default, or if the object has fewer, all of it. */
  readonly firstBytes?: number;
}

/** Streams an object to `path`, which only exists once it is complete. Starts over after a failure. */
export async function getToFile(
  source: Source,
  key: string,
  path: string,
  { signal, firstBytes }: GetOptions = {},
): Promise<void> {
  const range = firstBytes === undefined ? {} : { Range: `bytes=0-${firstBytes - 1}` };
  const partial = `${path}.partial`;
  try {
    await tryAgain(signal, () =>
      mapErrors('get', signal, async () => {
        const { body, length } = await open(source, { Key: key, ...range }, signal);
        const file = createWriteStream(partial);
        await pipeline(body, file);
        // A connection that ends early can look like the end of the body.
        if (length !== undefined && file.bytesWritten !== length)
          throw new StorageError('unavailable', 'get');
      }),
    );
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Reads a whole object into memory. For small objects. */
export async function getBuffer(source: Source, key: string): Promise<Buffer> {
  return tryAgain(undefined, () =>
    mapErrors('get', undefined, async () => {
      const { body, length } = await open(source, { Key: key }, undefined);
      const bytes = Buffer.concat(await body.toArray());
      if (length !== undefined && bytes.length !== length) throw new StorageError('unavailable', 'get');
      return bytes;
    }),
  );
}

async function open(
  { client, bucket }: Source,
  wanted: { readonly Key: string; readonly Range?: string },
  signal: AbortSignal | undefined,
): Promise<{ body: Readable; length: number | undefined }> {
  const response = await client.send(
    new GetObjectCommand({ Bucket: bucket, ...wanted }),
    sendOptions(signal),
  );
  if (!(response.Body instanceof Readable)) throw new StorageError('unavailable', 'get');
  return { body: response.Body, length: response.ContentLength };
}
