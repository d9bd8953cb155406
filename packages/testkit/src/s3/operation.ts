import { type ServerResponse } from 'node:http';
import { type S3Request } from './s3-request';
import { type SignedClaim } from './signed-claim';
import { type Store } from './store';

/** The input of an operation: a request whose signature was verified. */
export interface OperationContext {
  request: S3Request;
  claim: SignedClaim;
  response: ServerResponse;
  store: Store;
  /** Whether this request must be cut off in the middle. */
  reset: boolean;
}

/** Answers the request, or throws an `S3Error` before writing anything. */
export type S3Operation = (context: OperationContext) => Promise<void>;
