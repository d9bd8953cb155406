import { S3Client } from '@aws-sdk/client-s3';

/** A bucket and the client that reaches it. */
export interface Bucket {
  readonly client: S3Client;
  readonly bucket: string;
}

export interface KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface StorageOptions extends KeyPair {
  /** The endpoint at which this process reaches the store. */
  endpoint: string;
  /** The endpoint at which customers reach the same store, used only in signed URLs. Defaults to `endpoint`. */
  publicEndpoint?: string;
  region: string;
  bucket: string;
  /**
   * Signs uploads. Some stores let whoever has a signed upload add headers that copy any object which the signer may
   * read, so this pair should have no right but to put under `uploads/`. Defaults to the service's own pair.
   */
  uploadCredentials?: KeyPair | undefined;
  forcePathStyle: boolean;
}

const CONNECTION_TIMEOUT_MS = 3_000;
/** Limits silence on an open connection, not the duration of a transfer. */
const SOCKET_TIMEOUT_MS = 15_000;
/** Attempts at one request, including the first. */
export const ATTEMPTS_MAX = 4;

/** The SDK would write its own warnings to the console. Callers log what matters. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * A client for one of the two endpoints. Checksums stay off unless S3 requires them, because a signed PUT must not fix
 * one.
 */
export function createS3Client(options: StorageOptions, endpoint: string, maxAttempts: number): S3Client {
  return new S3Client({
    endpoint,
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    forcePathStyle: options.forcePathStyle,
    maxAttempts,
    logger: silent,
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

/** Options of a call that is aborted with `signal`, if there is one. */
export function sendOptions(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}
