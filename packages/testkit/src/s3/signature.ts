import { timingSafeEqual } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { createScope, getSigningKey, SignatureV4Base } from '@smithy/signature-v4';
import { accessDenied, S3Error, type S3Request } from './protocol';

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

/** What a request claims about its signature, before verification. */
export interface SignedClaim {
  accessKeyId: string;
  /** `date/region/service/aws4_request`. */
  scope: string;
  /** `YYYYMMDD` of the scope. */
  date: string;
  /** `YYYYMMDDTHHMMSSZ`. */
  dateTime: string;
  signedAtMs: number;
  /** Lifetime of a presigned URL; null for a signed header. */
  expiresSeconds: number | null;
  signedHeaders: readonly string[];
  signature: string;
  /** Hex digest of the body, `UNSIGNED-PAYLOAD`, or a streaming marker. */
  payloadHash: string;
}

const PRESIGNED_SECONDS_MAX = 7 * 24 * 60 * 60;

/** Throws `AccessDenied` for an unsigned request and S3's «malformed» errors for a badly signed one. */
function parseAuthorization(request: S3Request): SignedClaim {
  const header = request.headers['authorization'];
  if (header !== undefined) return fromHeader(header, request);
  if (request.query.has('X-Amz-Signature')) return fromQuery(request.query);
  throw accessDenied('Anonymous access is forbidden for this operation');
}

function fromHeader(header: string, request: S3Request): SignedClaim {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (match === null) throw malformed('AuthorizationHeaderMalformed');
  const [, credential = '', signedHeaders = '', signature = ''] = match;
  const payloadHash = request.headers['x-amz-content-sha256'];
  if (payloadHash === undefined) {
    throw new S3Error(
      400,
      'InvalidRequest',
      'Missing required header for this request: x-amz-content-sha256',
    );
  }
  return {
    ...credentialParts(credential, 'AuthorizationHeaderMalformed'),
    ...dateParts(request.headers['x-amz-date'] ?? '', 'AuthorizationHeaderMalformed'),
    expiresSeconds: null,
    signedHeaders: signedHeaders.split(';'),
    signature,
    payloadHash,
  };
}

function fromQuery(query: URLSearchParams): SignedClaim {
  const code = 'AuthorizationQueryParametersError';
  const expires = query.get('X-Amz-Expires') ?? '';
  const expiresSeconds = Number(expires);
  if (query.get('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') throw malformed(code);
  if (!/^\d+$/.test(expires) || expiresSeconds > PRESIGNED_SECONDS_MAX) throw malformed(code);
  return {
    ...credentialParts(query.get('X-Amz-Credential') ?? '', code),
    ...dateParts(query.get('X-Amz-Date') ?? '', code),
    expiresSeconds,
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: query.get('X-Amz-Signature') ?? '',
    payloadHash: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
  };
}

function credentialParts(
  credential: string,
  code: string,
): Pick<SignedClaim, 'accessKeyId' | 'scope' | 'date'> {
  const match = /^([^/]+)\/((\d{8})\/[^/]+\/[^/]+\/aws4_request)$/.exec(credential);
  if (match === null) throw malformed(code);
  const [, accessKeyId = '', scope = '', date = ''] = match;
  return { accessKeyId, scope, date };
}

function dateParts(dateTime: string, code: string): Pick<SignedClaim, 'dateTime' | 'signedAtMs'> {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(dateTime);
  if (match === null) throw malformed(code);
  const [, year, month, day, hour, minute, second] = match;
  return { dateTime, signedAtMs: Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) };
}

function malformed(code: string): S3Error {
  return new S3Error(400, code, 'The authorization that you provided is malformed.');
}
