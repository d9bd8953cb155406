import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { type Clock } from '@lipsync/runtime';
import { type Bucket } from './s3-client';

interface Signer extends Bucket {
  readonly clock: Clock;
}

export interface SignedPut {
  url: string;
  /** The exact headers that the PUT must carry. The store refuses another type or length. */
  headers: Record<string, string>;
  expiresAt: Date;
}

export interface SignedGet {
  url: string;
  expiresAt: Date;
}

export interface PresignPutOptions {
  contentType: string;
  contentLength: number;
  expiresSeconds: number;
}

export interface PresignGetOptions {
  /** File name of the download in a browser: letters, digits, `.`, `_`, `-`. */
  filename: string;
  contentType: string;
  expiresSeconds: number;
}

/** Signs an upload of exactly this many bytes of this type. Sends nothing to the store. */
export async function presignPut(
  signer: Signer,
  key: string,
  options: PresignPutOptions,
): Promise<SignedPut> {
  const { contentType, contentLength } = options;
  const command = new PutObjectCommand({
    Bucket: signer.bucket,
    Key: key,
    ContentType: contentType,
    ContentLength: contentLength,
  });
  const moment = signingMoment(signer.clock, options.expiresSeconds);
  const url = await getSignedUrl(signer.client, command, {
    expiresIn: options.expiresSeconds,
    signingDate: moment.signedAt,
    // Without this the SDK leaves the content type unsigned.
    signableHeaders: new Set(['host', 'content-type', 'content-length']),
  });
  const headers = { 'Content-Type': contentType, 'Content-Length': String(contentLength) };
  return { url, headers, expiresAt: moment.expiresAt };
}

/**
 * Signs a download that browsers save under a name and never display, and that no shared cache keeps. An object never
 * changes, so a browser may keep it for as long as the address is valid. Sends nothing to the store.
 */
export async function presignGet(
  signer: Signer,
  key: string,
  options: PresignGetOptions,
): Promise<SignedGet> {
  const command = new GetObjectCommand({
    Bucket: signer.bucket,
    Key: key,
    ResponseContentDisposition: `attachment; filename="${options.filename.replace(/[^\w.-]/g, '_')}"`,
    ResponseContentType: options.contentType,
    ResponseCacheControl: `private, max-age=${options.expiresSeconds}`,
  });
  const moment = signingMoment(signer.clock, options.expiresSeconds);
  const url = await getSignedUrl(signer.client, command, {
    expiresIn: options.expiresSeconds,
    signingDate: moment.signedAt,
  });
  return { url, expiresAt: moment.expiresAt };
}

/** Signatures count whole seconds. The expiry that is reported must not be later than the one that is signed. */
function signingMoment(clock: Clock, expiresSeconds: number): { signedAt: Date; expiresAt: Date } {
  const signedAtMs = Math.floor(clock.now() / 1000) * 1000;
  return { signedAt: new Date(signedAtMs), expiresAt: new Date(signedAtMs + expiresSeconds * 1000) };
}
