/**
 * How long a request waits for the object store altogether. A store that says nothing would otherwise be given up only
 * after four silences of a connection, which is longer than callers wait for an answer.
 */
export const STORAGE_WAIT_MS = 5_000;
