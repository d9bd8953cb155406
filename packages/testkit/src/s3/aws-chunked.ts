import { S3Error } from './s3-error';

/** Receives the trailing headers of an aws-chunked body, names in lower case. */
export type TrailerSink = (trailers: ReadonlyMap<string, string>) => void;

const LINE_BYTES_MAX = 4_096;

/**
 * Decodes `aws-chunked` content (size in hex, CRLF, data, CRLF, …, `0`, trailers), which SDKs send when a checksum
 * follows the body. Throws `IncompleteBody` if the framing is broken.
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  onTrailers: TrailerSink,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source);
  for (;;) {
    const size = parseInt((await reader.line()).split(';')[0] ?? '', 16);
    if (!Number.isSafeInteger(size) || size < 0) throw incomplete();
    if (size === 0) break;
    yield* reader.take(size);
    if ((await reader.line()) !== '') throw incomplete();
  }
  const trailers = new Map<string, string>();
  for (let line = await reader.line(); line !== ''; line = await reader.line()) {
    const colon = line.indexOf(':');
    if (colon < 1) throw incomplete();
    trailers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  await reader.end();
  onTrailers(trailers);
}

/** Reads lines and byte runs from a stream of chunks, holding one chunk at a time. */
class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    let end = this.rest.indexOf('\r\n');
    while (end < 0) {
      if (this.rest.length > LINE_BYTES_MAX) throw incomplete();
      this.rest = Buffer.concat([this.rest, await this.pull()]);
      end = this.rest.indexOf('\r\n');
    }
    const text = this.rest.toString('latin1', 0, end);
    this.rest = this.rest.subarray(end + 2);
    return text;
  }

  async *take(bytes: number): AsyncGenerator<Buffer> {
    let missing = bytes;
    while (missing > 0) {
      if (this.rest.length === 0) this.rest = await this.pull();
      const part = this.rest.subarray(0, missing);
      this.rest = this.rest.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }

  /** Reads to the end of the stream, where nothing may be left. */
  async end(): Promise<void> {
    if (this.rest.length > 0 || (await this.chunks.next()).done !== true) throw incomplete();
  }

  private async pull(): Promise<Buffer> {
    const next = await this.chunks.next();
    if (next.done === true) throw incomplete();
    return next.value;
  }
}

function incomplete(): S3Error {
  return new S3Error(400, 'IncompleteBody', 'The request body terminated unexpectedly or is framed wrongly.');
}
