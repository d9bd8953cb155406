import { type ErrorCode, type OperationId } from '@lipsync/contract';
import { type Span } from '@lipsync/telemetry';

/** What one request leaves in the log: flat, without bodies, keys, signed addresses or query strings. */
export interface RequestFields {
  operation_id?: OperationId;
  customer_id?: string;
  api_key_id?: string;
  resource_id?: string;
  error_code?: ErrorCode;
  idempotent_replayed?: boolean;
  request_bytes?: number;
  /** What was thrown unexpectedly. The logger describes it. */
  error?: unknown;
}

/** Carried along one request; the pages that Express routes find it in `res.locals`. */
export interface RequestContext {
  requestId: string;
  /** Path as sent, without the query. */
  path: string;
  /** The request in its trace: it ends with the answer, and what the request sets going continues it. */
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
