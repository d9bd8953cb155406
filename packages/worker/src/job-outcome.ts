import { type Settlement } from './settle';

/** `unrecorded`: the database could not be reached; the lease runs out and the reconciler recovers the job. */
export type JobOutcome = 'completed' | Settlement | 'unrecorded';
