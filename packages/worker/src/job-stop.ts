import { type ErrorCode } from '@lipsync/contract';

/** This process is shutting down and the job did not end within the grace period. */
export class Preempted extends Error {
  override readonly name = 'Preempted';
}

/** The wall-clock limit of the job has passed. */
export class JobTimeout extends Error {
  override readonly name = 'JobTimeout';

  constructor(readonly code: ErrorCode) {
    super('the time limit of the job has passed');
  }
}
