import { type ServerResponse } from 'node:http';
import { type S3Request } from './protocol';
import { type Store } from './store';

/** The input of an operation. */
export interface OperationContext {
  request: S3Request;
  /** What the signature says of the body: its SHA-256 in hex, or a marker; undefined without a signature. */
  payloadHash: string | undefined;
  response: ServerResponse;
  store: Store;
  /** Whether this request must be cut off in the middle. */
  reset: boolean;
}

/** Answers the request, or throws an `S3Error` before writing anything. */
export type S3Operation = (context: OperationContext) => Promise<void> | void;
