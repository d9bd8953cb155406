import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Error, type S3Request } from './protocol';

/** Digests of a streamed body, compared at its end with everything that the request declared about it. */
export interface BodyChecks {
  update(chunk: Buffer): void;
  /** Takes the values that only arrive after the body. */
  trailers(trailers: ReadonlyMap<string, string>): void;
  /** Throws `BadDigest` or `XAmzContentSHA256Mismatch`; returns the hex MD5, which is the ETag. */
  finish(): string;
}

const CHECKSUMS = new Set(['x-amz-checksum-crc32', 'x-amz-checksum-sha256', 'x-amz-checksum-sha1']);
/** Headers with this prefix that contain no digest. */
const NOT_DIGESTS = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);

/** `payloadHash` is the signed one: a hex digest, or a marker for an unsigned body. */
export function createBodyChecks(request: S3Request, payloadHash: string): BodyChecks {
  const promised = promisedChecksums(request);
  const md5 = createHash('md5');
  const sha1 = createHash('sha1');
  const sha256 = createHash('sha256');
  let crc = 0;
  return {
    update: (chunk) => {
      md5.update(chunk);
      sha1.update(chunk);
      sha256.update(chunk);
      crc = crc32(chunk, crc);
    },
    trailers: (trailers) => {
      for (const [name, value] of trailers) {
        if (name.startsWith('x-amz-checksum-')) promised.set(supported(name), value);
      }
    },
    finish: () => {
      const etag = md5.digest();
      const sha256Digest = sha256.digest();
      if (/^[0-9a-f]{64}$/.test(payloadHash) && payloadHash !== sha256Digest.toString('hex')) {
        throw new S3Error(
          400,
          'XAmzContentSHA256Mismatch',
          'The provided content hash does not match the body.',
        );
      }
      const crcBytes = Buffer.alloc(4);
      crcBytes.writeUInt32BE(crc);
      const actual = new Map([
        ['content-md5', etag.toString('base64')],
        ['x-amz-checksum-crc32', crcBytes.toString('base64')],
        ['x-amz-checksum-sha1', sha1.digest('base64')],
        ['x-amz-checksum-sha256', sha256Digest.toString('base64')],
      ]);
      for (const [name, value] of promised) {
        if (actual.get(name) !== value) {
          throw new S3Error(400, 'BadDigest', `The ${name} you specified did not match what we received.`);
        }
      }
      return etag.toString('hex');
    },
  };
}

/** Digests from headers, or from the query of a presigned URL. */
function promisedChecksums(request: S3Request): Map<string, string> {
  const promised = new Map<string, string>();
  const given = [...Object.entries(request.headers), ...request.query.entries()];
  for (const [name, value] of given.map(([name, value]) => [name.toLowerCase(), value] as const)) {
    if (name === 'content-md5') promised.set(name, value);
    else if (name.startsWith('x-amz-checksum-') && !NOT_DIGESTS.has(name))
      promised.set(supported(name), value);
  }
  return promised;
}

function supported(name: string): string {
  if (!CHECKSUMS.has(name)) throw notImplemented(`This store does not compute ${name}.`);
  return name;
}

/** Receives the trailing headers of an aws-chunked body, names in lower case. */
type TrailerSink = (trailers: ReadonlyMap<string, string>) => void;

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
