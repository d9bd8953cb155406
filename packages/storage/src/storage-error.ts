import { S3ServiceException } from '@aws-sdk/client-s3';

/**
 * `not_found`: no such object. `precondition_failed`: it is not the version that was asked for. `unavailable`: the
 * store did not answer properly although the request was tried again; a later try may succeed. `rejected`: the store
 * refused the request as such (credentials, bucket, malformed); trying again does not help.
 */
export type StorageErrorKind = 'not_found' | 'precondition_failed' | 'unavailable' | 'rejected';

export class StorageError extends Error {
  override readonly name = 'StorageError';

  constructor(
    readonly kind: StorageErrorKind,
    readonly operation: string,
    options?: ErrorOptions,
  ) {
    const status = statusOf(options?.cause);
    super(`${operation}: ${kind}${status === undefined ? '' : `, status ${status}`}`, options);
  }
}

/** Of an answer to HEAD the client knows nothing else: it has no body that would tell. */
function statusOf(cause: unknown): number | undefined {
  return cause instanceof S3ServiceException ? cause.$metadata.httpStatusCode : undefined;
}

/** Whether it was the store that failed, and not what was asked of it. */
export function isStorageUnavailable(error: unknown): boolean {
  return error instanceof StorageError && error.kind === 'unavailable';
}

/**
 * Whether the store was not to be had before anything was made for it, so that waiting for it costs nothing. Of a failed
 * write what was written has to be made again. A store that refuses to be looked at refuses whoever asks, for another
 * key or bucket than it should have, and not the job: others may be let in.
 */
export function isStorageAwayAtFirst(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  return error.operation === 'ping' || (error.kind === 'unavailable' && error.operation !== 'put');
}

/** Faults of this machine's own files, on their way from or to the store. */
const LOCAL_FAULTS: ReadonlySet<string> = new Set(
  'ENOSPC EDQUOT EROFS EIO EACCES EPERM ENOENT EMFILE ENFILE'.split(' '),
);

/**
 * Runs a call to the store; what it throws becomes a `StorageError`. An abort by the caller stays what it is, and so does
 * what this machine's own files did.
 */
export async function mapErrors<T>(
  operation: string,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StorageError || isLocalFault(error)) throw error;
    throw new StorageError(kindOf(error), operation, { cause: error });
  }
}

function isLocalFault(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && LOCAL_FAULTS.has(String(error.code))
  );
}

function kindOf(error: unknown): StorageErrorKind {
  // Without an answer of the store it was a time-out or the network.
  if (!(error instanceof S3ServiceException)) return 'unavailable';
  const status = error.$metadata.httpStatusCode ?? 0;
  // 301: the bucket lies in another region than is configured.
  if (error.name === 'NoSuchBucket' || status === 301) return 'rejected';
  if (status === 404) return 'not_found';
  if (status === 412) return 'precondition_failed';
  return status >= 500 || status < 400 || isPassing(error.name, status) ? 'unavailable' : 'rejected';
}

/** Refusals of the moment: a slow body (which S3 answers with 400), a conflict within the store, too many requests. */
function isPassing(name: string, status: number): boolean {
  return name.startsWith('RequestTimeout') || [408, 409, 429].includes(status);
}
