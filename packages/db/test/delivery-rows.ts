import { randomBytes } from 'node:crypto';
import { type Factories } from '@lipsync/testkit';

interface DeliveryRows {
  customerId: string;
  origin: string;
  count?: number;
  /** Negative for deliveries that become due later. */
  dueSecondsAgo?: number;
}

/** Inserts pending deliveries with their events, without the records that ended, many in one statement. */
export async function addDeliveries(make: Factories, rows: DeliveryRows): Promise<void> {
  const { customerId, origin, count = 1, dueSecondsAgo = 1 } = rows;
  const series = randomBytes(6).toString('hex');
  await make.query(
    `WITH number AS (
       SELECT lpad(value::text, 6, '0') AS number, $3 || '_' || lpad(value::text, 6, '0') AS name
       FROM generate_series(1, $4) AS value
     ), event AS (
       INSERT INTO webhook_events (id, customer_id, render_id, type, body, expires_at)
       SELECT 'evt_' || name, $1, 'ren_' || name, 'render.completed', '{}', now() + interval '7 days' FROM number
     )
     INSERT INTO webhook_deliveries (id, event_id, customer_id, url, origin, status, next_attempt_at)
     SELECT 'dlv_' || name, 'evt_' || name, $1, origin || '/hook', origin, 'pending', now() - make_interval(secs => $5)
     FROM (SELECT name, replace($2, '#', number) AS origin FROM number) AS named`,
    [customerId, origin, series, count, dueSecondsAgo],
  );
}
