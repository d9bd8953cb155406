import { type Settlement } from './settle';

/** `unrecorded`: the database could not be told; the lease runs out and the reconciler takes the job up. */
export type JobOutcome = 'completed' | Settlement | 'unrecorded';
