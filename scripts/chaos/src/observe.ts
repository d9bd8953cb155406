import { Client } from 'pg';

export type Row = Readonly<Record<string, unknown>>;

/** A change of a row, as the database itself saw it. */
export interface Change {
  seq: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** The transaction. */
  xid: string;
  tbl: string;
  id: string;
  was: Row | null;
  now: Row;
}

const TABLES = [
  'renders',
  'preparations',
  'engine_runs',
  'jobs',
  'assets',
  'webhook_events',
  'webhook_deliveries',
  'run_usage',
] as const;
export type Table = (typeof TABLES)[number];

/** The columns whose changes matter; a heartbeat that only extends a lease is left out. */
const COLUMNS =
  'id,customer_id,status,fence,attempts,progress_percent,output_key,worker_id,queue,asset_id,engine_run_id,preparation_id,render_id,event_id,type,enqueued_at,claim_token,outcome';

/** Records every transition of the service's tables in a schema of the suite's own, whoever makes it. */
const INSTALL = `
  CREATE SCHEMA chaos;
  CREATE TABLE chaos.changes (
    seq bigserial PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xid text NOT NULL DEFAULT pg_current_xact_id()::text, tbl text, id text, was jsonb, now jsonb);
  CREATE FUNCTION chaos.pick(whole jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_object_agg(key, value) FROM jsonb_each(whole) WHERE key = ANY (string_to_array('${COLUMNS}', ',')) $$;
  -- With the rights of its owner: the service's own roles need none here.
  CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  DECLARE was jsonb; now jsonb := chaos.pick(to_jsonb(NEW));
  BEGIN
    IF TG_OP = 'UPDATE' THEN was := chaos.pick(to_jsonb(OLD)); END IF;
    IF was IS DISTINCT FROM now THEN
      INSERT INTO chaos.changes (tbl, id, was, now) VALUES (TG_TABLE_NAME, NEW.id, was, now);
    END IF;
    RETURN NULL;
  END $$;
  ${TABLES.map((table) => `CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION chaos.note();`).join('\n')}`;

/** Jobs and deliveries that nobody works on although every part is healthy, with the reason. */
const ABANDONED = `
  WITH work AS (
    SELECT id, status, lease_until, available_at, queue = 'media' AS is_media FROM jobs WHERE status IN ('queued', 'running')
  ), at_work AS (
    SELECT is_media FROM work WHERE lease_until > clock_timestamp()
    UNION ALL
    SELECT now->>'queue' = 'media' FROM chaos.changes
    WHERE tbl = 'jobs' AND now->>'status' IN ('running', 'finished') AND at > clock_timestamp() - $1::interval
  )
  SELECT 'lease' AS kind, id FROM work WHERE lease_until < clock_timestamp() - $1::interval
  UNION ALL
  SELECT 'job', id FROM work WHERE status = 'queued' AND available_at < clock_timestamp() - $1::interval
    AND is_media NOT IN (SELECT is_media FROM at_work)
  UNION ALL
  SELECT 'delivery', id FROM webhook_deliveries WHERE status = 'pending' AND next_attempt_at < clock_timestamp() - $1::interval
    AND NOT EXISTS (SELECT FROM chaos.changes AS change WHERE tbl = 'webhook_deliveries' AND change.id = webhook_deliveries.id
      AND at > clock_timestamp() - $1::interval)
  UNION ALL
  SELECT 'record', id FROM renders WHERE status IN ('accepted', 'processing') AND NOT EXISTS (
    SELECT FROM engine_runs JOIN jobs ON jobs.engine_run_id = engine_runs.id
    WHERE render_id = renders.id AND jobs.status <> 'finished')
  UNION ALL
  SELECT 'blocked', jobs.id FROM jobs JOIN engine_runs ON engine_runs.id = engine_run_id JOIN renders ON renders.id = render_id
    WHERE jobs.status = 'blocked' AND NOT EXISTS (SELECT FROM assets
      WHERE assets.id IN (video_asset_id, audio_asset_id) AND assets.status NOT IN ('ready', 'failed'))`;

const OPEN = `
  SELECT (SELECT count(*) FROM renders WHERE status IN ('accepted', 'processing'))
    + (SELECT count(*) FROM preparations WHERE status IN ('accepted', 'processing'))
    + (SELECT count(*) FROM assets WHERE status = 'pending')
    + (SELECT count(*) FROM jobs WHERE status <> 'finished')
    + (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') AS open`;

export interface Abandoned {
  kind: string;
  id: string;
}

/** The suite's own view of the database, past the proxies. */
export function createObserver(url: string) {
  /** One connection per question: the database is made to crash meanwhile. */
  async function ask<R extends object>(sql: string, values: unknown[] = []): Promise<R[]> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<R>(sql, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return {
    ask,
    install: () => ask(INSTALL),
    changes: (): Promise<Change[]> =>
      ask(`SELECT seq::int, (extract(epoch FROM at) * 1000)::float8 AS at, xid, tbl, id, was, now
           FROM chaos.changes ORDER BY seq`),
    rows: async (): Promise<Record<Table, Row[]>> => {
      const read = TABLES.map(async (table) => [table, await ask<Row>(`SELECT * FROM ${table}`)] as const);
      return Object.fromEntries(await Promise.all(read)) as Record<Table, Row[]>;
    },
    openCount: async (): Promise<number> => Number((await ask<{ open: string }>(OPEN))[0]?.open),
    abandoned: (seconds: number): Promise<Abandoned[]> => ask(ABANDONED, [`${seconds} seconds`]),
    /** The jobs that this worker runs. */
    heldBy: (workerId: string): Promise<{ id: string; fence: number }[]> =>
      ask(`SELECT id, fence FROM jobs WHERE worker_id = $1 AND status = 'running'`, [workerId]),
  };
}

export type Observer = ReturnType<typeof createObserver>;
