import { type Client, escapeIdentifier } from 'pg';

type Right = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | `${'SELECT' | 'INSERT' | 'UPDATE'} (${string})`;

const ALL = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
const EXTENDED = ['SELECT', 'INSERT', 'UPDATE'] as const;
const ADDED = ['SELECT', 'INSERT'] as const;
const READ = ['SELECT'] as const;

/** What ends a record and announces it, in one transaction. */
const RECORDS = {
  renders: EXTENDED,
  engine_runs: EXTENDED,
  preparations: EXTENDED,
  jobs: EXTENDED,
  webhook_events: ADDED,
  webhook_deliveries: ADDED,
};

/** All rows that work and its media leave, for those who purge or erase them. */
const EVERY_TRACE = {
  assets: ALL,
  uploads: ALL,
  renders: ALL,
  engine_runs: ALL,
  preparations: ALL,
  features: ALL,
  feature_objects: ALL,
  jobs: ALL,
  webhook_events: ALL,
  webhook_deliveries: ALL,
  idempotency_keys: ALL,
  workers: ALL,
};

/**
 * The rights of each service on each table, by the end of its role's name. What is not named is refused: a worker that
 * opens customers' media reads neither keys nor signing secrets. `UPDATE (name)` lets the api lock a customer. A
 * trigger writes usage, with the owner's rights.
 */
export const GRANTS: Readonly<Record<string, Readonly<Record<string, readonly Right[]>>>> = {
  api: {
    ...RECORDS,
    customers: ['SELECT', 'UPDATE (name)'],
    api_keys: ['SELECT', 'UPDATE (last_used_at)'],
    assets: EXTENDED,
    uploads: EXTENDED,
    idempotency_keys: EXTENDED,
    workers: READ,
  },
  media_worker: {
    ...EVERY_TRACE,
    customers: READ,
    reconciliation: EXTENDED,
    // What is older than a year, by a policy of the table.
    run_usage: ['SELECT', 'DELETE'],
  },
  gpu_worker: {
    ...RECORDS,
    // It enqueues jobs when a slot becomes free, within each customer's limit, and keeps nothing for one that is erased.
    customers: ['SELECT (id, state, running_jobs_max)'],
    assets: READ,
    features: ALL,
    feature_objects: ALL,
    workers: ALL,
  },
  webhook_dispatcher: {
    // The deliveries of a suspended customer wait.
    customers: ['SELECT (id, state)'],
    webhook_deliveries: ['SELECT', 'UPDATE'],
    webhook_events: READ,
    webhook_secrets: READ,
    renders: ['SELECT (id, trace_parent)'],
    preparations: ['SELECT (id, trace_parent)'],
  },
  scaler: { jobs: READ, workers: READ, customers: READ },
  /** The operator's command. It may do everything except change its audit records or set their time. */
  admin: {
    ...EVERY_TRACE,
    customers: ALL,
    api_keys: ALL,
    webhook_secrets: ALL,
    reconciliation: READ,
    // It makes usage anonymous, and may delete what is older than a year: policies of the table.
    run_usage: ['SELECT', 'UPDATE (customer_id, render_id)', 'DELETE'],
    audit_log: ['SELECT', 'INSERT (id, actor, command, customer_id, subject_id, details)'],
  },
};

/**
 * Gives the services' roles exactly these rights, as the owner of the tables, in one transaction. A role is named after
 * the database: `lipsync_api` in `lipsync`. Roles that do not exist are skipped: an installation may have one login for
 * all services, or some. Returns the roles.
 */
export async function grantRoles(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ role: string; service: string; schema: string }>(
    `SELECT rolname AS role, service, current_schema() AS schema FROM unnest($1::text[]) AS service
     JOIN pg_roles ON rolname = current_database() || '_' || service ORDER BY rolname`,
    [Object.keys(GRANTS)],
  );
  await client.query('BEGIN');
  for (const { role, service, schema } of rows) {
    const name = escapeIdentifier(role);
    await client.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${escapeIdentifier(schema)} FROM ${name}`);
    for (const [table, rights] of Object.entries(GRANTS[service] ?? {}))
      await client.query(`GRANT ${rights.join(', ')} ON ${escapeIdentifier(table)} TO ${name}`);
  }
  await client.query('COMMIT');
  return rows.map(({ role }) => role);
}
