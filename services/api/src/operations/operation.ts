import { type Customer } from '../http/authenticate';

/** One authenticated and routed request. */
export interface Call {
  customer: Customer;
  /** The path's `{id}`, or '' when the operation has none. Not validated. */
  id: string;
  /** A JSON object, not yet validated against its schema; undefined for operations without a body. */
  body: object | undefined;
  /** Every Idempotency-Key header of the request. */
  idempotencyHeaders: readonly string[];
  /** W3C trace context of the request, for the work that it starts; undefined when tracing is off. */
  traceParent: string | undefined;
}

/** An operation's response on success; the contract defines the status. */
export interface Reply {
  body: object;
  headers?: Readonly<Record<string, string>>;
  /** Identifier for the log. */
  resourceId: string;
}

/** One operation of the contract. Refusals are thrown as ServiceError. */
export type Handler = (call: Call) => Promise<Reply>;
