import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';

/** Why an asset cannot be ingested, as a code of the error catalogue; the message is for logs. */
export class IngestFailure extends Error {
  override readonly name = 'IngestFailure';
  /** Whether another attempt would fail in the same way. */
  readonly isFinal: boolean;
  /** Tells the customer more than the catalogue does. */
  readonly detail: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    {
      isFinal = !ERROR_CATALOGUE[code].retryable,
      detail,
      ...options
    }: ErrorOptions & { readonly isFinal?: boolean; readonly detail?: string | undefined } = {},
  ) {
    super(message, options);
    this.isFinal = isFinal;
    this.detail = detail;
  }
}
