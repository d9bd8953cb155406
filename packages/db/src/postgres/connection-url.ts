/** Parameters that a URL could use to override the time limits that callers rely on. */
const LIMITS = ['statement_timeout', 'idle_in_transaction_session_timeout'];

const SETTINGS = '-c timezone=UTC -c jit=off';

/**
 * The URL with the session settings that this service needs, in addition to its own. `pg` lets parameters of a URL
 * override every setting made beside it, as a whole: `options` with a search path would lose the time zone.
 *
 * Prisma writes and reads timestamptz without an offset and means UTC. Compiling a statement (JIT) pays off in reports
 * that run for seconds; here it would only add its time to every statement whose cost is overestimated.
 */
export function connectionUrl(url: string): string {
  // `pg` takes a lone % for itself, but then escapes every escape in the URL a second time.
  const own = new URL(url.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  for (const limit of LIMITS) own.searchParams.delete(limit);
  const options = own.searchParams.getAll('options');
  own.searchParams.set('options', [...options, SETTINGS].join(' '));
  return own.href;
}
