import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Dumps a database as of now, with everything but owners and rights, into a file that `restoreDump` reads. */
export async function writeDump(databaseUrl: string, file: string): Promise<void> {
  await onDatabase('pg_dump', databaseUrl, [
    '--format=custom',
    '--no-owner',
    '--no-privileges',
    `--file=${file}`,
  ]);
}

/** Names of the programs that are connected to a database, or their logins if Postgres does not say. */
export async function connectedPrograms(databaseUrl: string): Promise<string[]> {
  const names = await psql(databaseUrl, [
    // Autovacuum's workers have no login. Of other logins only the superuser sees more than that they are there.
    `--command=SELECT DISTINCT coalesce(nullif(application_name, ''), usename) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename IS NOT NULL ORDER BY 1`,
  ]);
  return names.split('\n').filter((name) => name !== '');
}

/**
 * Replaces everything in a database by what a dump has, in one transaction. Rights are the next migration's to grant.
 * Writes `<file>.sql` on the way.
 */
export async function restoreDump(databaseUrl: string, file: string): Promise<void> {
  const script = `${file}.sql`;
  await runTool('pg_restore', ['--schema=public', '--no-owner', '--no-privileges', `--file=${script}`, file]);
  await psql(databaseUrl, [
    '--single-transaction',
    // Tables that a later version added are not in the dump, and go, too.
    '--command=DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC',
    `--file=${script}`,
  ]);
}

function psql(databaseUrl: string, args: readonly string[]): Promise<string> {
  const quiet = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1'];
  return onDatabase('psql', databaseUrl, [...quiet, ...args]);
}

/** Runs a tool on a database; the password is not among the arguments, which every process of the machine can read. */
function onDatabase(tool: string, databaseUrl: string, args: readonly string[]): Promise<string> {
  const address = new URL(databaseUrl);
  const password = decodeURIComponent(address.password);
  address.password = '';
  // This variable tells Node of a private authority; libpq has another.
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  return runTool(tool, ['--no-password', `--dbname=${address.href}`, ...args], {
    ...(authority === undefined ? {} : { PGSSLROOTCERT: authority }),
    PGPASSWORD: password,
  });
}

const run = promisify(execFile);

/** Runs one of PostgreSQL's own programs. Throws what it wrote to standard error, or that it is not installed. */
async function runTool(
  tool: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    const { stdout } = await run(tool, args, { env: { ...process.env, ...environment, PGAPPNAME: 'admin' } });
    return stdout;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ENOENT')
      throw new Error(
        `${tool} is not installed here: install PostgreSQL's client programs, of the server's version or newer`,
        { cause: error },
      );
    const complaint = 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Error(complaint === '' ? `${tool} failed` : complaint, { cause: error });
  }
}
