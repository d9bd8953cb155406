import { S3ServiceException } from '@aws-sdk/client-s3';

/**
 * `not_found`: no such object. `precondition_failed`: the object is not the requested version. `unavailable`: the store
 * did not answer properly despite retries; a later attempt may succeed. `rejected`: the store refused the request
 * itself (credentials, bucket, malformed); retrying does not help. `not_offered`: the store has no such operation.
 */
type StorageErrorKind = 'not_found' | 'precondition_failed' | 'unavailable' | 'rejected' | 'not_offered';

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

/** A response to HEAD has no body, so the status is all that the client knows. */
function statusOf(cause: unknown): number | undefined {
  return cause instanceof S3ServiceException ? cause.$metadata.httpStatusCode : undefined;
}

/** Says whether the store failed, rather than the request. */
export function isStorageUnavailable(error: unknown): boolean {
  return error instanceof StorageError && error.kind === 'unavailable';
}

/**
 * Says whether the store was unavailable before anything was produced for it, so that waiting costs nothing. After a
 * failed write the data has to be produced again. A refused ping does not depend on the job, but on the key or the
 * bucket that this process uses; other workers may have the right ones.
 */
export function isStorageAwayAtFirst(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  return error.operation === 'ping' || (error.kind === 'unavailable' && error.operation !== 'put');
}

/** Error codes of local files, read or written during a transfer. */
const LOCAL_FAULTS: ReadonlySet<string> = new Set(
  'ENOSPC EDQUOT EROFS EIO EACCES EPERM ENOENT EMFILE ENFILE'.split(' '),
);

/**
 * Runs a call to the store and maps its errors to `StorageError`. Passes on an abort by the caller, and the errors of
 * local files, unchanged.
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
  // Without a response from the store it was a timeout or the network.
  if (!(error instanceof S3ServiceException)) return 'unavailable';
  const status = error.$metadata.httpStatusCode ?? 0;
  // 301: the bucket is in another region than the configured one.
  if (error.name === 'NoSuchBucket' || status === 301) return 'rejected';
  if (status === 404) return 'not_found';
  if (status === 412) return 'precondition_failed';
  if (status === 501 || error.name === 'MethodNotAllowed') return 'not_offered';
  return status >= 500 || status < 400 || isPassing(error.name, status) ? 'unavailable' : 'rejected';
}

/** Temporary refusals: a slow body (which S3 answers with 400), a conflict within the store, too many requests. */
function isPassing(name: string, status: number): boolean {
  return name.startsWith('RequestTimeout') || [408, 409, 429].includes(status);
}
