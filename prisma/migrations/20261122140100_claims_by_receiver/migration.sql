-- Claims as before, but fair among the customers of one origin, too: of many who are told at the same host, one with a
-- backlog took all attempts that this may have, for its deliveries were the oldest.
ALTER TABLE "webhook_claim_cursor" ADD COLUMN "customer_id" TEXT NOT NULL DEFAULT '';

-- Claims due deliveries in one round trip, at most `p_limit`, within the caps of attempts under way per origin and per
-- customer. One claim at a time, so that the caps hold over all dispatchers: a receiver that hangs cannot take all
-- attempts. What somebody else has locked is left for a later claim: one that waited for a row would keep all dispatchers
-- waiting.
--
-- Of what is due it looks at the oldest. Where there is more than it looks at, that may all belong to whoever has a
-- backlog; so it looks at receivers, too, each customer's at each origin, each by its own oldest, and goes on in the next
-- claim where it stopped in this one. A receiver with anything due is looked at within a number of claims that the number
-- of receivers alone decides, and what a claim costs grows with neither. Of all that, whoever has the fewest attempts under
-- way comes first: at an origin, and over all.
--
-- What is over ends here, and is told without a claim token and without body: a delivery whose event has expired; one
-- that was attempted before and is older than the window (WEBHOOK_WINDOW_SECONDS in packages/domain; a minute more,
-- because an attempt may be due at its very end); one whose dispatcher died with the last attempt, of which nothing is
-- known. One that was never attempted is not given up for its age: then it was us who did not come to it.
CREATE FUNCTION claim_deliveries_in_turn(
  p_limit integer, p_lease_seconds double precision, p_per_origin integer, p_per_customer integer, p_max_attempts integer
) RETURNS TABLE (
  id text, claim_token text, event_id text, event_type text, customer_id text, url text, origin text, attempt integer,
  body text, secret bytea, waited_seconds double precision, trace_parent text, last_error text
) LANGUAGE plpgsql
-- A queue in a table: what statistics say of it is never true any more, and only a plain scan of an index in its order
-- stops early, and clears the entries away of what was claimed and settled since.
SET enable_bitmapscan = off SET enable_seqscan = off SET enable_sort = off
-- To plan this takes several times as long as to do it, and no argument makes another plan the better one.
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := clock_timestamp();
  look CONSTANT integer := greatest(p_limit * 4, 64);
  receivers_look CONSTANT integer := greatest(p_limit * 2, 64);
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

  RETURN QUERY
  WITH RECURSIVE under_way AS MATERIALIZED (
    SELECT origin, customer_id FROM webhook_deliveries WHERE lease_until >= moment
  ), busy_origin AS MATERIALIZED (
    SELECT origin, count(*) AS attempts FROM under_way GROUP BY origin
  ), busy_customer AS MATERIALIZED (
    SELECT customer_id, count(*) AS attempts FROM under_way GROUP BY customer_id
  ), busy_receiver AS MATERIALIZED (
    SELECT origin, customer_id, count(*) AS attempts FROM under_way GROUP BY origin, customer_id
  ), oldest AS MATERIALIZED (
    SELECT id, origin, customer_id, next_attempt_at FROM webhook_deliveries
    WHERE status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
    ORDER BY next_attempt_at, id LIMIT look
  ), cursor AS MATERIALIZED (
    SELECT COALESCE(max(origin), '') AS origin, COALESCE(max(customer_id), '') AS customer_id FROM webhook_claim_cursor
    HAVING (SELECT count(*) FROM oldest) = look
  ), ahead(origin, customer_id, place) AS (
    -- From one receiver to the next by the index, past however many deliveries it has; no further than is asked for.
    SELECT following.origin, following.customer_id, 1 FROM cursor CROSS JOIN LATERAL (
      SELECT origin, customer_id FROM webhook_deliveries
      WHERE status = 'pending' AND (origin, customer_id) > (cursor.origin, cursor.customer_id)
      ORDER BY origin, customer_id LIMIT 1
    ) AS following
    UNION ALL
    SELECT following.origin, following.customer_id, place + 1 FROM ahead CROSS JOIN LATERAL (
      SELECT origin, customer_id FROM webhook_deliveries
      WHERE status = 'pending' AND (origin, customer_id) > (ahead.origin, ahead.customer_id)
      ORDER BY origin, customer_id LIMIT 1
    ) AS following
  ), behind(origin, customer_id, place) AS (
    SELECT following.origin, following.customer_id, 1000000000 FROM cursor CROSS JOIN LATERAL (
      SELECT origin, customer_id FROM webhook_deliveries
      WHERE status = 'pending' AND (origin, customer_id) <= (cursor.origin, cursor.customer_id)
      ORDER BY origin, customer_id LIMIT 1
    ) AS following
    UNION ALL
    SELECT following.origin, following.customer_id, place + 1 FROM behind CROSS JOIN cursor CROSS JOIN LATERAL (
      SELECT origin, customer_id FROM webhook_deliveries
      WHERE status = 'pending' AND (origin, customer_id) > (behind.origin, behind.customer_id)
        AND (origin, customer_id) <= (cursor.origin, cursor.customer_id)
      ORDER BY origin, customer_id LIMIT 1
    ) AS following
  ), in_turn AS MATERIALIZED (
    -- A receiver without anything to take is a row as well: the limit bounds the looks.
    SELECT visited.origin AS visited_origin, visited.customer_id AS visited_customer, visited.place, due.*
    FROM (SELECT * FROM ahead UNION ALL SELECT * FROM behind) AS visited
    LEFT JOIN LATERAL (
      SELECT id, origin, customer_id, next_attempt_at FROM webhook_deliveries
      WHERE origin = visited.origin AND customer_id = visited.customer_id
        AND status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
      ORDER BY next_attempt_at, id
      LIMIT greatest(
        0, p_per_origin - COALESCE((SELECT attempts FROM busy_origin WHERE busy_origin.origin = visited.origin), 0)
      )
    ) AS due ON true
    LIMIT receivers_look
  ), moved AS (
    UPDATE webhook_claim_cursor
    SET (origin, customer_id) = (SELECT visited_origin, visited_customer FROM in_turn ORDER BY place DESC LIMIT 1)
    WHERE (SELECT count(*) FROM in_turn) = receivers_look
  ), by_receiver AS (
    -- Who may have no more attempts takes no turn from others.
    SELECT due.*,
      row_number() OVER (PARTITION BY origin, customer_id ORDER BY next_attempt_at, id)
        + COALESCE(busy_receiver.attempts, 0) AS receiver_turn
    FROM (
      SELECT * FROM oldest
      UNION
      SELECT id, origin, customer_id, next_attempt_at FROM in_turn WHERE id IS NOT NULL
    ) AS due
    LEFT JOIN busy_receiver USING (origin, customer_id)
    LEFT JOIN busy_customer USING (customer_id)
    WHERE COALESCE(busy_customer.attempts, 0) < p_per_customer
  ), by_origin AS (
    SELECT by_receiver.*,
      row_number() OVER (PARTITION BY origin ORDER BY receiver_turn, next_attempt_at, id)
        + COALESCE(busy_origin.attempts, 0) AS turn
    FROM by_receiver LEFT JOIN busy_origin USING (origin)
  ), by_customer AS (
    SELECT by_origin.*,
      row_number() OVER (PARTITION BY customer_id ORDER BY turn, next_attempt_at, id)
        + COALESCE(busy_customer.attempts, 0) AS customer_turn
    FROM by_origin LEFT JOIN busy_customer USING (customer_id)
    WHERE turn <= p_per_origin
  ), judged AS MATERIALIZED (
    -- A row that somebody else holds is left out, and the next one comes instead of it: nobody holds up all others. The
    -- conditions once more: of a row that changed since this statement began they are asked as it is now. The order
    -- twice: by the inner one no more rows are looked up here than are taken.
    SELECT delivery.id, delivery.next_attempt_at AS due_at, event.type, event.body, event.render_id, event.preparation_id,
      event.expires_at <= moment
        OR (delivery.attempts > 0 AND delivery.created_at <= moment - make_interval(secs => 86400 + 60))
        OR (delivery.lease_until IS NOT NULL AND delivery.attempts >= p_max_attempts) AS is_over
    FROM (
      SELECT id, customer_turn, next_attempt_at FROM by_customer WHERE customer_turn <= p_per_customer
      ORDER BY customer_turn, next_attempt_at, id
    ) AS candidate
    JOIN webhook_deliveries AS delivery ON delivery.id = candidate.id
    JOIN webhook_events AS event ON event.id = delivery.event_id
    WHERE delivery.status = 'pending' AND delivery.next_attempt_at <= moment
      AND (delivery.lease_until IS NULL OR delivery.lease_until < moment)
    ORDER BY candidate.customer_turn, candidate.next_attempt_at, candidate.id LIMIT p_limit
    FOR UPDATE OF delivery SKIP LOCKED
  ), ended AS (
    UPDATE webhook_deliveries AS delivery
    SET status = 'failed', next_attempt_at = NULL, lease_until = NULL, claim_token = NULL, updated_at = moment,
      last_error = CASE WHEN attempts > 0 THEN COALESCE(last_error, 'timeout') ELSE last_error END
    FROM judged WHERE delivery.id = judged.id AND is_over
    RETURNING delivery.*, judged.type, NULL AS body, judged.render_id, judged.preparation_id, judged.due_at
  ), claimed AS (
    -- The attempt counts from here, so that a delivery that kills its dispatcher ends as well.
    UPDATE webhook_deliveries AS delivery
    SET attempts = attempts + 1, claim_token = gen_random_uuid()::text,
      lease_until = moment + make_interval(secs => p_lease_seconds)
    FROM judged WHERE delivery.id = judged.id AND NOT is_over
    RETURNING delivery.*, judged.type, judged.body, judged.render_id, judged.preparation_id, judged.due_at
  )
  SELECT taken.id, taken.claim_token, taken.event_id, taken.type, taken.customer_id, taken.url, taken.origin,
    taken.attempts, taken.body,
    (
      SELECT ciphertext FROM webhook_secrets AS secret
      WHERE secret.customer_id = taken.customer_id AND (secret.active_from IS NULL OR secret.active_from <= moment)
        AND (secret.retired_at IS NULL OR secret.retired_at > moment)
      ORDER BY secret.created_at DESC, secret.id DESC LIMIT 1
    ),
    GREATEST(0, extract(epoch FROM moment - taken.due_at))::double precision,
    COALESCE(
      (SELECT trace_parent FROM renders WHERE renders.id = taken.render_id),
      (SELECT trace_parent FROM preparations WHERE preparations.id = taken.preparation_id)
    ),
    taken.last_error
  FROM (SELECT * FROM claimed UNION ALL SELECT * FROM ended) AS taken ORDER BY taken.due_at, taken.id;
END $$;

-- What a dispatcher of the release before calls. Dropped a release later.
CREATE OR REPLACE FUNCTION claim_or_end_deliveries(
  p_limit integer, p_lease_seconds double precision, p_per_origin integer, p_per_customer integer, p_max_attempts integer
) RETURNS TABLE (
  id text, claim_token text, event_id text, event_type text, customer_id text, url text, origin text, attempt integer,
  body text, secret bytea, waited_seconds double precision, trace_parent text, last_error text
) LANGUAGE sql AS $$
  SELECT * FROM claim_deliveries_in_turn(p_limit, p_lease_seconds, p_per_origin, p_per_customer, p_max_attempts)
$$;
