/** An error response of the store, in S3's terms. */
export class S3Error extends Error {
  override readonly name = 'S3Error';

  constructor(
    readonly status: number,
    /** S3's error code, e.g. `NoSuchKey`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export const accessDenied = (message: string) => new S3Error(403, 'AccessDenied', message);
export const invalidRequest = (message: string) => new S3Error(400, 'InvalidRequest', message);
export const notImplemented = (message: string) => new S3Error(501, 'NotImplemented', message);
export const noSuchKey = () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.');
export const noSuchBucket = () => new S3Error(404, 'NoSuchBucket', 'The specified bucket does not exist');
export const preconditionFailed = () =>
  new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold');
