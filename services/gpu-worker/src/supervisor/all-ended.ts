/**
 * Like `Promise.all`, but rejects only once nothing is running any more: a job's folder is removed when it fails, and
 * nothing may still be writing into it.
 */
export async function allEnded<T extends readonly unknown[] | []>(
  running: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
