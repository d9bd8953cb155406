import { type Customer } from '../http/authenticate';

/** One authenticated and routed call. */
export interface Call {
  customer: Customer;
  /** The path's `{id}`, '' where the operation has none. Not known to be well-formed. */
  id: string;
  /** A JSON object, not yet checked against its schema; undefined where the operation takes none. */
  body: object | undefined;
  /** Every Idempotency-Key header of the request. */
  idempotencyHeaders: readonly string[];
  /** W3C trace context of the request, for what it sets going; undefined while there is no tracing. */
  traceParent: string | undefined;
}

/** What an operation answers on success; the status is the contract's. */
export interface Reply {
  body: object;
  headers?: Readonly<Record<string, string>>;
  /** Identifier for the log. */
  resourceId: string;
}

/** One operation of the contract. Refusals are thrown as ServiceError. */
export type Handler = (call: Call) => Promise<Reply>;
