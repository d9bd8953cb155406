import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { withController } from '@lipsync/runtime';
import { ATTEMPTS_MAX, type Bucket, sendOptions } from './s3-client';
import { isStorageUnavailable, mapErrors, StorageError } from './storage-error';

/** Bytes in memory, or a file that does not change meanwhile. */
export type PutSource = Uint8Array | { file: string };

export interface PutOptions {
  contentType: string;
  signal?: AbortSignal;
}

/** Writes an object. Resolves when it is stored. A file is streamed, and sent again from its start after a failure. */
export async function put(
  { client, bucket }: Bucket,
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

export interface GetOptions {
  readonly signal?: AbortSignal;
  /** Number of leading bytes to read, at least one. By default, or if the object has fewer, all of it. */
  readonly firstBytes?: number;
}

/** Streams an object to `path`, which only exists once it is complete. Starts over after a failure. */
export async function getToFile(
  source: Bucket,
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
export async function getBuffer(source: Bucket, key: string): Promise<Buffer> {
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
  { client, bucket }: Bucket,
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

const FIRST_DELAY_MS = 200;

/**
 * Repeats a transfer that the SDK cannot repeat on its own, because the first attempt uses up the stream. Retries only
 * after `unavailable`. Delays double from 200 ms.
 */
async function tryAgain<T>(signal: AbortSignal | undefined, transfer: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transfer();
    } catch (error) {
      const worthIt = isStorageUnavailable(error) && attempt < ATTEMPTS_MAX;
      if (!worthIt) throw error;
      await delay(FIRST_DELAY_MS * 2 ** (attempt - 1), undefined, signal === undefined ? {} : { signal });
    }
  }
}
