import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { notImplemented, S3Error } from './s3-error';
import { type S3Request } from './s3-request';

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
