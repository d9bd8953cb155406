import { accessDenied, S3Error } from './s3-error';
import { type S3Request } from './s3-request';

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
export function parseAuthorization(request: S3Request): SignedClaim {
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
