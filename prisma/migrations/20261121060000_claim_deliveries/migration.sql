-- Every change of a delivery is an entry in each of its indexes: none that another one makes superfluous.
DROP INDEX "webhook_deliveries_status_next_attempt_at_idx";
-- What is due in the order in which it is claimed.
DROP INDEX "webhook_deliveries_due_idx";
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries"("next_attempt_at", "id") WHERE "status" = 'pending';
-- The attempts that are under way, which every claim counts; only a pending delivery has a lease.
CREATE INDEX "webhook_deliveries_leased_idx" ON "webhook_deliveries"("lease_until") WHERE "lease_until" IS NOT NULL;

-- Claims due deliveries in one round trip: oldest first, at most `p_limit`, within the caps of attempts under way per
-- origin and per customer. One claim at a time, so that the caps hold over all dispatchers: a receiver that hangs cannot
-- take all attempts. What it costs does not grow with a backlog: origins and customers that are at their cap are passed
-- over, of the others a few times as many are looked at as are taken; whoever is crowded out by that has its turn in the
-- next claim, when those that crowd are at their cap.
CREATE FUNCTION claim_deliveries(
  p_limit integer, p_lease_seconds double precision, p_per_origin integer, p_per_customer integer, p_max_attempts integer
) RETURNS TABLE (
  id text, claim_token text, event_id text, event_type text, customer_id text, url text, origin text, attempt integer,
  body text, secret bytea, waited_seconds double precision, trace_parent text
) LANGUAGE plpgsql
-- A queue in a table: what statistics say of it is never true any more, and only a plain scan of an index in its order
-- stops early, and clears the entries away of what was claimed and settled since.
SET enable_bitmapscan = off SET enable_seqscan = off SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := clock_timestamp();
  full_origins text[];
  full_customers text[];
BEGIN
  -- Most looks find nothing: they take no lock and write nothing.
  IF NOT EXISTS (
    SELECT FROM webhook_deliveries
    WHERE status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
  ) THEN
    RETURN;
  END IF;
  -- A claim that a crash of the server forgets is a delivery that is due again: nobody waits for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock(727003);
  moment := clock_timestamp();

  -- The last attempt was claimed and its dispatcher died: what it did is unknown, and there is no further one.
  UPDATE webhook_deliveries
  SET status = 'failed', next_attempt_at = NULL, lease_until = NULL, claim_token = NULL,
    last_error = COALESCE(last_error, 'timeout'), updated_at = moment
  WHERE lease_until < moment AND attempts >= p_max_attempts;

  SELECT COALESCE(array_agg(origin), '{}') INTO full_origins FROM (
    SELECT origin FROM webhook_deliveries WHERE lease_until >= moment GROUP BY origin HAVING count(*) >= p_per_origin
  ) AS at_cap;
  SELECT COALESCE(array_agg(customer_id), '{}') INTO full_customers FROM (
    SELECT customer_id FROM webhook_deliveries WHERE lease_until >= moment
    GROUP BY customer_id HAVING count(*) >= p_per_customer
  ) AS at_cap;

  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT id, origin, customer_id, next_attempt_at FROM webhook_deliveries
    WHERE status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
      AND origin <> ALL (full_origins) AND customer_id <> ALL (full_customers)
    ORDER BY next_attempt_at, id LIMIT p_limit * 4
  ), busy_origin AS (
    SELECT origin, count(*) AS attempts FROM webhook_deliveries WHERE lease_until >= moment GROUP BY origin
  ), busy_customer AS (
    SELECT customer_id, count(*) AS attempts FROM webhook_deliveries WHERE lease_until >= moment GROUP BY customer_id
  ), in_turn AS (
    SELECT due.*, row_number() OVER (PARTITION BY origin ORDER BY next_attempt_at, id) AS origin_turn FROM due
  ), by_origin AS (
    SELECT in_turn.*, row_number() OVER (PARTITION BY customer_id ORDER BY next_attempt_at, id) AS customer_turn
    FROM in_turn LEFT JOIN busy_origin USING (origin)
    WHERE origin_turn + COALESCE(busy_origin.attempts, 0) <= p_per_origin
  ), chosen AS (
    SELECT id FROM by_origin LEFT JOIN busy_customer USING (customer_id)
    WHERE customer_turn + COALESCE(busy_customer.attempts, 0) <= p_per_customer
    ORDER BY next_attempt_at, id LIMIT p_limit
  ), claimed AS (
    -- The attempt counts from here, so that a delivery that kills its dispatcher ends as well.
    UPDATE webhook_deliveries AS delivery
    SET attempts = attempts + 1, claim_token = gen_random_uuid()::text,
      lease_until = moment + make_interval(secs => p_lease_seconds)
    FROM chosen WHERE delivery.id = chosen.id
    RETURNING delivery.*
  )
  SELECT claimed.id, claimed.claim_token, claimed.event_id, event.type, claimed.customer_id, claimed.url, claimed.origin,
    claimed.attempts, event.body,
    (
      SELECT ciphertext FROM webhook_secrets AS secret
      WHERE secret.customer_id = claimed.customer_id AND secret.retired_at IS NULL
      ORDER BY secret.created_at DESC, secret.id DESC LIMIT 1
    ),
    GREATEST(0, extract(epoch FROM moment - claimed.next_attempt_at))::double precision,
    COALESCE(
      (SELECT trace_parent FROM renders WHERE renders.id = event.render_id),
      (SELECT trace_parent FROM preparations WHERE preparations.id = event.preparation_id)
    )
  FROM claimed JOIN webhook_events AS event ON event.id = claimed.event_id
  ORDER BY claimed.next_attempt_at, claimed.id;
END $$;
