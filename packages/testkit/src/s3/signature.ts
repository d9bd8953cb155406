import { timingSafeEqual } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { createScope, getSigningKey, SignatureV4Base } from '@smithy/signature-v4';
import { accessDenied, S3Error } from './s3-error';
import { type S3Request } from './s3-request';
import { parseAuthorization, type SignedClaim } from './signed-claim';

export interface S3KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Whom the store knows, and how strictly it reads what they signed. */
export interface S3Access {
  readonly region: string;
  readonly keyPairs: readonly S3KeyPair[];
  /** Whether a request may carry x-amz-… headers that are not signed, as Ceph 16.2 lets a signed URL. */
  readonly lenient: boolean;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SKEW_MAX_MS = 15 * 60 * 1000;

/**
 * Verifies a request's SigV4 signature (Authorization header or presigned URL). Builds the canonical request with the
 * SDK's own signer, over exactly the headers that the request declares as signed, with their actual values. Returns the
 * claim. Throws S3's errors for a wrong, foreign, expired or incomplete signature.
 */
export async function verifySignature(
  request: S3Request,
  access: S3Access,
  nowMs: number,
): Promise<SignedClaim> {
  const claim = parseAuthorization(request);
  const keys = keyPairOf(claim, access);
  checkScope(claim, access.region);
  checkTime(claim, nowMs);
  checkSignedHeaders(claim, request, access.lenient);
  const expected = await new CanonicalSigner(keys, access.region).signatureOf(request, claim);
  const given = Buffer.from(claim.signature, 'utf8');
  const wanted = Buffer.from(expected, 'utf8');
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new S3Error(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    );
  }
  return claim;
}

/** Exposes the SDK's canonicalisation: signing selects headers by itself, verification must not. */
class CanonicalSigner extends SignatureV4Base {
  constructor(
    private readonly keys: S3KeyPair,
    private readonly storeRegion: string,
  ) {
    super({ credentials: keys, region: storeRegion, service: 's3', sha256: Sha256, uriEscapePath: false });
  }

  async signatureOf(request: S3Request, claim: SignedClaim): Promise<string> {
    const headers = Object.fromEntries(
      claim.signedHeaders.map((name) => [name, (request.headers[name] ?? '').trim().replace(/\s+/g, ' ')]),
    );
    const canonical = this.createCanonicalRequest(
      {
        method: request.method,
        protocol: 'http:',
        hostname: '',
        path: request.rawPath,
        headers,
        query: queryBag(request),
      },
      headers,
      claim.payloadHash,
    );
    const scope = createScope(claim.date, this.storeRegion, this.service);
    const text = await this.createStringToSign(claim.dateTime, scope, canonical, ALGORITHM);
    const key = await getSigningKey(Sha256, this.keys, claim.date, this.storeRegion, this.service);
    const hmac = new Sha256(key);
    hmac.update(text);
    return Buffer.from(await hmac.digest()).toString('hex');
  }
}

function queryBag(request: S3Request): Record<string, string | string[]> {
  const names = new Set(request.query.keys());
  return Object.fromEntries([...names].map((name) => [name, request.query.getAll(name)]));
}

function keyPairOf(claim: SignedClaim, { keyPairs }: S3Access): S3KeyPair {
  const keys = keyPairs.find(({ accessKeyId }) => accessKeyId === claim.accessKeyId);
  if (keys !== undefined) return keys;
  throw new S3Error(
    403,
    'InvalidAccessKeyId',
    'The access key ID you provided does not exist in our records.',
  );
}

function checkScope(claim: SignedClaim, region: string): void {
  if (claim.scope !== createScope(claim.date, region, 's3') || !claim.dateTime.startsWith(claim.date)) {
    throw new S3Error(400, 'AuthorizationHeaderMalformed', 'The credential scope is wrong for this store.');
  }
}

function checkTime(claim: SignedClaim, nowMs: number): void {
  if (claim.expiresSeconds === null) {
    if (Math.abs(nowMs - claim.signedAtMs) > SKEW_MAX_MS) {
      throw new S3Error(
        403,
        'RequestTimeTooSkewed',
        "The difference between the request time and the server's time is too large.",
      );
    }
    return;
  }
  if (claim.signedAtMs - nowMs > SKEW_MAX_MS) throw accessDenied('Request is not valid yet');
  if (nowMs > claim.signedAtMs + claim.expiresSeconds * 1000) throw accessDenied('Request has expired');
}

function checkSignedHeaders(claim: SignedClaim, request: S3Request, lenient: boolean): void {
  const signed = new Set(claim.signedHeaders);
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !signed.has(name),
  );
  if (!signed.has('host') || (unsigned.length > 0 && !lenient)) {
    throw accessDenied('There were headers present in the request which were not signed');
  }
}
