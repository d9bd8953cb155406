import { S3Client } from '@aws-sdk/client-s3';

export interface StorageOptions {
  /** Where this process reaches the store. */
  endpoint: string;
  /** Where customers reach the same store; only signed URLs name it. Absent: `endpoint`. */
  publicEndpoint?: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
}

const CONNECTION_TIMEOUT_MS = 3_000;
/** Silence on an open connection; the length of a transfer is not limited here. */
const SOCKET_TIMEOUT_MS = 15_000;
/** Tries of one request, the first included. */
export const ATTEMPTS_MAX = 4;

/** The SDK would write its own warnings to the console; callers report what matters in their own log lines. */
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A client for one of the two endpoints. Checksums stay off unless S3 demands them: a signed PUT must not fix one. */
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
