import { type ErrorCode, type OperationId } from '@lipsync/contract';
import { type Span } from '@lipsync/telemetry';

/** The fields that one request leaves in the log: flat, without bodies, keys, signed URLs or query strings. */
export interface RequestFields {
  operation_id?: OperationId;
  customer_id?: string;
  api_key_id?: string;
  resource_id?: string;
  error_code?: ErrorCode;
  idempotent_replayed?: boolean;
  request_bytes?: number;
  /** The unexpected error that was thrown, if any. The logger formats it. */
  error?: unknown;
}

/** Passed along with one request; the pages that Express routes find it in `res.locals`. */
export interface RequestContext {
  requestId: string;
  /** Path as sent, without the query. */
  path: string;
  /** The request's span. It ends with the response; work that the request starts continues its trace. */
  span: Span;
  fields: RequestFields;
}

declare global {
  // Express declares its extension points in this namespace.
  // eslint-disable-next-line @typescript-eslint/no-namespace
  namespace Express {
    interface Locals {
      context: RequestContext;
    }
  }
}
