import { type ServerResponse } from 'node:http';
import { type S3Request } from './s3-request';
import { type SignedClaim } from './signed-claim';
import { type Store } from './store';

/** What an operation works with: a request whose signature was verified. */
export interface OperationContext {
  request: S3Request;
  claim: SignedClaim;
  response: ServerResponse;
  store: Store;
  /** Set when this request must be cut off in the middle. */
  reset: boolean;
}

/** Answers the request, or throws an `S3Error` before it has written anything. */
export type S3Operation = (context: OperationContext) => Promise<void>;
