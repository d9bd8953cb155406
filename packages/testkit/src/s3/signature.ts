import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
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

/** What a verified request was signed for. */
interface VerifiedRequest {
  accessKeyId: string;
  /** Hex digest of the body, `UNSIGNED-PAYLOAD`, or a streaming marker. */
  payloadHash: string;
}

/**
 * Verifies a request's SigV4 signature (Authorization header or presigned URL), over exactly the headers that the
 * request declares as signed, with their actual values. Throws S3's errors for a wrong, foreign, expired or incomplete
 * signature.
 */
export function verifySignature(request: S3Request, access: S3Access): VerifiedRequest {
  const claim = parseAuthorization(request);
  const keys = access.keyPairs.find(({ accessKeyId }) => accessKeyId === claim.accessKeyId);
  if (keys === undefined)
    throw new S3Error(403, 'InvalidAccessKeyId', 'The access key ID does not exist in our records.');
  const { date, region } = claim;
  if (region !== access.region || !claim.dateTime.startsWith(date)) throw malformed();
  checkTime(claim, Date.now());
  checkSignedHeaders(claim, request, access.lenient);
  const expected = Buffer.from(signatureOf(request, claim, keys.secretAccessKey));
  const given = Buffer.from(claim.signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new S3Error(
      403,
      'SignatureDoesNotMatch',
      'The signature does not match the one that we calculated.',
    );
  return claim;
}

/** Signature Version 4, https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. */
function signatureOf(request: S3Request, claim: SignedClaim, secretAccessKey: string): string {
  const query = [...request.query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${uriEncode(name)}=${uriEncode(value)}`);
  const headers = claim.signedHeaders.map(
    (name) => `${name}:${(request.headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`,
  );
  const canonical = [
    request.method,
    request.rawPath,
    query.join('&'),
    headers.join(''),
    claim.signedHeaders.join(';'),
    claim.payloadHash,
  ].join('\n');
  const scope = [claim.date, claim.region, 's3', 'aws4_request'];
  const hash = createHash('sha256').update(canonical).digest('hex');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const signingKey = scope.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  return hmac(signingKey, [ALGORITHM, claim.dateTime, scope.join('/'), hash].join('\n')).toString('hex');
}

/** Encodes everything but the unreserved characters. */
function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function checkTime({ signedAtMs, expiresSeconds }: SignedClaim, nowMs: number): void {
  if (expiresSeconds === null) {
    if (Math.abs(nowMs - signedAtMs) > SKEW_MAX_MS)
      throw new S3Error(403, 'RequestTimeTooSkewed', "The request's time and the server's differ too much.");
    return;
  }
  if (signedAtMs - nowMs > SKEW_MAX_MS) throw accessDenied('Request is not valid yet');
  if (nowMs > signedAtMs + expiresSeconds * 1000) throw accessDenied('Request has expired');
}

function checkSignedHeaders({ signedHeaders }: SignedClaim, request: S3Request, lenient: boolean): void {
  const isSigned = (name: string) => signedHeaders.includes(name);
  const unsigned = Object.keys(request.headers).some((name) => name.startsWith('x-amz-') && !isSigned(name));
  if (!isSigned('host') || (unsigned && !lenient))
    throw accessDenied('There were headers present in the request which were not signed');
}

/** What a request claims about its signature, before verification. */
interface SignedClaim extends VerifiedRequest {
  region: string;
  /** `YYYYMMDD` of the scope. */
  date: string;
  /** `YYYYMMDDTHHMMSSZ`. */
  dateTime: string;
  signedAtMs: number;
  /** Lifetime of a presigned URL; null for a signed header. */
  expiresSeconds: number | null;
  signedHeaders: readonly string[];
  signature: string;
}

const PRESIGNED_SECONDS_MAX = 7 * 24 * 60 * 60;

/** Throws `AccessDenied` for an unsigned request and `AuthorizationHeaderMalformed` for a badly signed one. */
function parseAuthorization({ headers, query }: S3Request): SignedClaim {
  const header = headers['authorization'];
  if (header !== undefined) {
    const match = /^AWS4-HMAC-SHA256 Credential=(\S+),\s*SignedHeaders=(\S+),\s*Signature=(\S+)$/.exec(
      header,
    );
    const payloadHash = headers['x-amz-content-sha256'];
    if (match === null || payloadHash === undefined) throw malformed();
    const [, credential = '', signedHeaders = '', signature = ''] = match;
    return {
      ...parseScope(credential, headers['x-amz-date'] ?? ''),
      expiresSeconds: null,
      signedHeaders: signedHeaders.split(';'),
      signature,
      payloadHash,
    };
  }
  const signature = query.get('X-Amz-Signature');
  if (signature === null) throw accessDenied('Anonymous access is forbidden for this operation');
  const expiresSeconds = Number(query.get('X-Amz-Expires') ?? NaN);
  if (query.get('X-Amz-Algorithm') !== ALGORITHM || !(expiresSeconds <= PRESIGNED_SECONDS_MAX))
    throw malformed();
  return {
    ...parseScope(query.get('X-Amz-Credential') ?? '', query.get('X-Amz-Date') ?? ''),
    expiresSeconds,
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature,
    payloadHash: query.get('X-Amz-Content-Sha256') ?? 'UNSIGNED-PAYLOAD',
  };
}

function parseScope(credential: string, dateTime: string) {
  const scope = /^([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request$/.exec(credential);
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(dateTime);
  if (scope === null || time === null) throw malformed();
  const [, accessKeyId = '', date = '', region = ''] = scope;
  const [, year, month, day, hour, minute, second] = time;
  const signedAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return { accessKeyId, date, region, dateTime, signedAtMs };
}

function malformed(): S3Error {
  return new S3Error(
    400,
    'AuthorizationHeaderMalformed',
    'The authorization that you provided is malformed.',
  );
}
