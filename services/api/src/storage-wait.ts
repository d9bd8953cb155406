/**
 * How long a request waits for the object store in total. Without this limit, the request would give up on a silent
 * store only after four timeouts of a silent connection, which is longer than callers wait for a response.
 */
export const STORAGE_WAIT_MS = 5_000;
