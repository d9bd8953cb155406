-- Claims due deliveries in one round trip, at most `p_limit`, within the caps of attempts under way per origin and per
-- customer. One claim at a time, so that the caps hold over all dispatchers: a receiver that hangs cannot take all
-- attempts. What somebody else has locked is left for a later claim: one that waited for a row would keep all dispatchers
-- waiting.
--
-- Of what is due it looks at the oldest. Where there is more than it looks at, that may all belong to whoever has a
-- backlog; so it looks at origins, too, each by its own oldest, and goes on in the next claim where it stopped in this
-- one. An origin with anything due is looked at within a number of claims that the number of origins alone decides, and
-- what a claim costs grows with neither. Of all that, whoever has the fewest attempts under way comes first.
--
-- What is over ends here, and is told without a claim token and without body: a delivery whose event has expired; one
-- that was attempted before and is older than the window (WEBHOOK_WINDOW_SECONDS in packages/domain; a minute more,
-- because an attempt may be due at its very end); one whose dispatcher died with the last attempt, of which nothing is
-- known. One that was never attempted is not given up for its age: then it was us who did not come to it.
CREATE FUNCTION claim_or_end_deliveries(
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
  origins_look CONSTANT integer := greatest(p_limit * 2, 64);
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
  ), oldest AS MATERIALIZED (
    SELECT id, origin, customer_id, next_attempt_at FROM webhook_deliveries
    WHERE status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
    ORDER BY next_attempt_at, id LIMIT look
  ), cursor AS MATERIALIZED (
    SELECT COALESCE((SELECT origin FROM webhook_claim_cursor), '') AS origin
    WHERE (SELECT count(*) FROM oldest) = look
  ), ahead(origin, place) AS (
    -- From one origin to the next by the index, past however many deliveries it has; no further than is asked for.
    SELECT (
      SELECT origin FROM webhook_deliveries WHERE status = 'pending' AND origin > cursor.origin ORDER BY origin LIMIT 1
    ), 1 FROM cursor
    UNION ALL
    SELECT (
      SELECT origin FROM webhook_deliveries WHERE status = 'pending' AND origin > ahead.origin ORDER BY origin LIMIT 1
    ), place + 1 FROM ahead WHERE ahead.origin IS NOT NULL
  ), behind(origin, place) AS (
    SELECT (
      SELECT origin FROM webhook_deliveries WHERE status = 'pending' AND origin > '' ORDER BY origin LIMIT 1
    ), 1000000000 FROM cursor
    UNION ALL
    SELECT (
      SELECT origin FROM webhook_deliveries WHERE status = 'pending' AND origin > behind.origin ORDER BY origin LIMIT 1
    ), place + 1 FROM behind WHERE behind.origin <= (SELECT origin FROM cursor)
  ), in_turn AS MATERIALIZED (
    -- An origin without anything to take is a row as well: the limit bounds the looks.
    SELECT visited.origin AS visited, visited.place, due.*
    FROM (
      SELECT origin, place FROM ahead WHERE origin IS NOT NULL
      UNION ALL
      SELECT origin, place FROM behind WHERE origin <= (SELECT origin FROM cursor)
    ) AS visited
    LEFT JOIN LATERAL (
      SELECT id, origin, customer_id, next_attempt_at FROM webhook_deliveries
      WHERE origin = visited.origin
        AND status = 'pending' AND next_attempt_at <= moment AND (lease_until IS NULL OR lease_until < moment)
      ORDER BY next_attempt_at, id
      LIMIT greatest(
        0, p_per_origin - COALESCE((SELECT attempts FROM busy_origin WHERE busy_origin.origin = visited.origin), 0)
      )
    ) AS due ON true
    LIMIT origins_look
  ), moved AS (
    UPDATE webhook_claim_cursor
    SET origin = (SELECT visited FROM in_turn ORDER BY place DESC LIMIT 1)
    WHERE (SELECT count(*) FROM in_turn) = origins_look
  ), by_origin AS (
    SELECT due.*,
      row_number() OVER (PARTITION BY origin ORDER BY next_attempt_at, id) + COALESCE(busy_origin.attempts, 0) AS turn
    FROM (
      SELECT * FROM oldest
      UNION
      SELECT id, origin, customer_id, next_attempt_at FROM in_turn WHERE id IS NOT NULL
    ) AS due LEFT JOIN busy_origin USING (origin)
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

-- What a dispatcher of the release before calls. It would send what ended, so it is not told. Dropped a release later.
CREATE OR REPLACE FUNCTION claim_deliveries(
  p_limit integer, p_lease_seconds double precision, p_per_origin integer, p_per_customer integer, p_max_attempts integer
) RETURNS TABLE (
  id text, claim_token text, event_id text, event_type text, customer_id text, url text, origin text, attempt integer,
  body text, secret bytea, waited_seconds double precision, trace_parent text
) LANGUAGE sql AS $$
  SELECT id, claim_token, event_id, event_type, customer_id, url, origin, attempt, body, secret, waited_seconds,
    trace_parent
  FROM claim_or_end_deliveries(p_limit, p_lease_seconds, p_per_origin, p_per_customer, p_max_attempts)
  WHERE claim_token IS NOT NULL
$$;
