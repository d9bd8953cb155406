import { type Db, type Tx } from '../postgres/db';

/** Who changes something, and by which of the operator's commands. */
export interface Act {
  /** A user of the operating system or the cluster, or a name that was given. */
  readonly actor: string;
  /** As it is typed, without arguments: `customers suspend`. */
  readonly command: string;
}

/** What a row of the log says beside who and when. Neither secrets nor what would tell of a person: ids, counts, limits. */
interface Change {
  readonly customerId?: string | null;
  /** The id of what was changed; null if that is the customer, or nothing in particular. */
  readonly subjectId?: string | null;
  readonly details?: Details;
}

type Details = Readonly<Record<string, string | number | boolean | null>>;

export interface AuditRow {
  id: string;
  /** On the database's clock. */
  at: Date;
  actor: string;
  /** The database login that wrote it. */
  login: string;
  command: string;
  customerId: string | null;
  subjectId: string | null;
  details: Details;
}

/**
 * Records a change in the audit log, in the transaction that makes it: neither is there without the other. The database
 * itself adds the time and the login.
 */
export async function recordAct(db: Db, tx: Tx, act: Act, change: Change = {}): Promise<void> {
  const { customerId = null, subjectId = null, details = {} } = change;
  await tx.$executeRaw`
    INSERT INTO audit_log (id, actor, command, customer_id, subject_id, details)
    VALUES (${db.newId('aud')}, ${act.actor}, ${act.command}, ${customerId}, ${subjectId},
      ${JSON.stringify(details)}::jsonb)`;
}

/** The rows of the last `sinceSeconds`, the oldest first; those of one customer, if one is named. */
export function listAudit(
  db: Db,
  { sinceSeconds, customerId }: { sinceSeconds: number; customerId?: string | undefined },
): Promise<AuditRow[]> {
  return db.prisma.$queryRaw<AuditRow[]>`
    SELECT id, at, actor, login, command, customer_id AS "customerId", subject_id AS "subjectId", details
    FROM audit_log
    WHERE at >= now() - make_interval(secs => ${sinceSeconds}::float8)
      AND (${customerId ?? null}::text IS NULL OR customer_id = ${customerId ?? null})
    ORDER BY at, id`;
}
