import { openapiDocument } from './generated/document';

const source = openapiDocument['x-error-catalogue'];

/** Every value of `error.code`. */
export type ErrorCode = keyof typeof source;

/** Where a code can occur: in the response to a request, or on a failed asset, record or engine result. */
export type ErrorPlace = 'request' | 'asset' | 'record' | 'engine';

interface ErrorDefinition {
  /** Null for codes that only failed assets, records and engine results carry. */
  readonly httpStatus: number | null;
  readonly retryable: boolean;
  /** One sentence that tells the caller what to do. */
  readonly message: string;
  /** Value of the Retry-After header of the response, where there is a usual one. */
  readonly retryAfterSeconds: number | null;
  readonly where: readonly ErrorPlace[];
}

interface SourceEntry {
  readonly http_status: number | null;
  readonly retryable: boolean;
  readonly message: string;
  readonly retry_after_seconds?: number;
  readonly where: readonly ErrorPlace[];
}

/** Says whether a stored string is a code of the catalogue. */
export function isErrorCode(value: string): value is ErrorCode {
  return Object.hasOwn(source, value);
}

function define(entry: SourceEntry): ErrorDefinition {
  return {
    httpStatus: entry.http_status,
    retryable: entry.retryable,
    message: entry.message,
    retryAfterSeconds: entry.retry_after_seconds ?? null,
    where: entry.where,
  };
}

function build(): Readonly<Record<ErrorCode, ErrorDefinition>> {
  const entries = Object.entries<SourceEntry>(source).map(([code, entry]) => [code, define(entry)]);
  // Object.fromEntries loses the key type. The keys are those of `source` by construction.
  return Object.fromEntries(entries) as Record<ErrorCode, ErrorDefinition>;
}

/** The published catalogue of error codes, by code. */
export const ERROR_CATALOGUE = build();
