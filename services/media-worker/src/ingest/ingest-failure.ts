import { type ErrorCode } from '@lipsync/contract';

/** Why an asset cannot be ingested, as a code of the error catalogue; the message is for logs. */
export class IngestFailure extends Error {
  override readonly name = 'IngestFailure';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
