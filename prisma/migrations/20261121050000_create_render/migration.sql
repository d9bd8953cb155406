-- Creating renders in one round trip: a dozen statements whose locks would otherwise be held over as many waits for the
-- network. Functions rather than one statement, because each of their steps must see what was committed while the step
-- before it waited for a lock. A refusal is a value and not an error: nothing is rolled back, nothing is logged.
--
-- Processes of two releases call these side by side during an upgrade: a later migration adds a function under a new
-- name, and drops the old one a release later.

-- Binds a key to a resource that the caller is about to create. A concurrent duplicate waits until the first one has
-- committed or rolled back; when that takes longer than the caller's lock_timeout, the error passes (to catch it here would
-- cost every create a subtransaction). `bound_to` names what an earlier request created; both null: it is bound now.
CREATE FUNCTION reserve_idempotency_key(
  p_customer_id text, p_key text, p_operation text, p_fingerprint text, p_resource_id text, p_expires_at timestamptz,
  OUT refusal text, OUT bound_to text
) LANGUAGE plpgsql AS $$
DECLARE
  bound idempotency_keys;
BEGIN
  -- A key that expired under our eyes is replaced; more often than this it cannot.
  FOR round IN 1..4 LOOP
    INSERT INTO idempotency_keys (customer_id, key, operation, fingerprint, resource_id, expires_at)
    VALUES (p_customer_id, p_key, p_operation, p_fingerprint, p_resource_id, p_expires_at)
    ON CONFLICT (customer_id, key) DO NOTHING;
    IF FOUND THEN RETURN; END IF;
    SELECT * INTO bound FROM idempotency_keys WHERE customer_id = p_customer_id AND key = p_key;
    IF NOT FOUND THEN CONTINUE; END IF;
    IF bound.expires_at > clock_timestamp() THEN
      IF bound.fingerprint = p_fingerprint THEN bound_to := bound.resource_id;
      ELSE refusal := 'idempotency_key_reused';
      END IF;
      RETURN;
    END IF;
    DELETE FROM idempotency_keys
    WHERE customer_id = p_customer_id AND key = p_key AND expires_at = bound.expires_at;
  END LOOP;
  refusal := 'idempotency_in_progress';
END $$;

-- The asset that a request refers to. While it is pending it is share-locked: until the caller commits it neither
-- becomes ready nor fails, so a job that waits for it cannot miss the moment. So is one that is about to expire, or its
-- bytes could be purged before the caller commits; longer than a minute no transaction lives. All others are left alone,
-- because they do not change and every request of a busy customer may name them.
CREATE FUNCTION refer_asset(
  p_customer_id text, p_asset_id text, p_media_type text,
  OUT refusal text, OUT is_ready boolean, OUT sha256 text
) LANGUAGE plpgsql AS $$
DECLARE
  asset assets;
BEGIN
  SELECT * INTO asset FROM assets WHERE id = p_asset_id AND customer_id = p_customer_id;
  IF asset.status = 'pending' OR asset.expires_at < clock_timestamp() + interval '1 minute' THEN
    SELECT * INTO asset FROM assets WHERE id = p_asset_id AND customer_id = p_customer_id FOR SHARE;
  END IF;
  refusal := CASE
    WHEN asset.id IS NULL THEN 'asset_not_found'
    WHEN asset.expires_at <= clock_timestamp() THEN 'asset_expired'
    WHEN asset.media_type <> p_media_type THEN 'asset_type_mismatch'
    WHEN asset.status = 'awaiting_upload' THEN 'asset_not_ready'
    WHEN asset.status = 'failed' THEN 'asset_failed'
  END;
  is_ready := asset.status = 'ready';
  sha256 := asset.sha256;
END $$;

-- How many more accepted and processing records the customer may have. Counting and inserting are one step: until the
-- caller commits, nobody else counts this customer's records.
CREATE FUNCTION free_record_places(p_customer_id text, p_default_max integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  active_max integer;
  active integer;
BEGIN
  PERFORM pg_advisory_xact_lock(727004, hashtext(p_customer_id));
  SELECT COALESCE(active_records_max, p_default_max) INTO active_max FROM customers WHERE id = p_customer_id;
  SELECT count(*) INTO active FROM (
    SELECT FROM renders WHERE customer_id = p_customer_id AND status IN ('accepted', 'processing')
    UNION ALL
    SELECT FROM preparations WHERE customer_id = p_customer_id AND status IN ('accepted', 'processing')
    LIMIT active_max
  ) AS open;
  RETURN active_max - active;
END $$;

-- Why a render cannot use the completed preparation that it names; null when it can. A preparation of another video is
-- known to be one when both hashes are; while the video's is not, that is decided when the video is ready.
CREATE FUNCTION preparation_refusal(
  p_customer_id text, p_preparation_id text, p_video_id text, p_video_sha256 text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  preparation preparations;
BEGIN
  SELECT * INTO preparation FROM preparations WHERE id = p_preparation_id AND customer_id = p_customer_id;
  RETURN CASE
    WHEN preparation.id IS NULL THEN 'preparation_not_found'
    WHEN preparation.expires_at <= clock_timestamp() THEN 'preparation_expired'
    WHEN preparation.status IN ('accepted', 'processing') THEN 'preparation_not_ready'
    WHEN preparation.status <> 'completed' THEN 'preparation_failed'
    WHEN preparation.video_asset_id <> p_video_id AND preparation.video_sha256 <> p_video_sha256
      THEN 'preparation_mismatch'
  END;
END $$;

-- A render that is to be. What it holds was checked before, ids are the caller's. An input with a URL becomes an asset
-- under its id, one without is an asset that exists. `needed_engines` are those that must have a live worker.
CREATE TYPE new_render AS (
  id text, customer_id text, ttl_seconds integer, idempotency_key text, fingerprint text,
  video_id text, video_url text, video_job_id text, audio_id text, audio_url text, audio_job_id text,
  preparation_id text, sync_mode text, webhook_url text, trace_parent text,
  engines text[], run_ids text[], job_ids text[], needed_engines text[],
  -- Found out on the way: whether its jobs can start, when it is created and when it expires.
  is_ready boolean, at timestamptz, expires_at timestamptz
);

-- Why a new render cannot be created; null when it can. Says on the way whether its inputs are there.
CREATE FUNCTION check_new_render(
  p_render new_render, p_live_engines text[], OUT refusal text, OUT is_ready boolean
) LANGUAGE plpgsql AS $$
DECLARE
  video_is_ready boolean := false;
  video_sha256 text;
  audio_is_ready boolean := false;
BEGIN
  IF p_render.video_url IS NULL THEN
    SELECT asset.refusal, asset.is_ready, asset.sha256 INTO refusal, video_is_ready, video_sha256
    FROM refer_asset(p_render.customer_id, p_render.video_id, 'video') AS asset;
    IF refusal IS NOT NULL THEN RETURN; END IF;
  END IF;
  IF p_render.audio_url IS NULL THEN
    SELECT asset.refusal, asset.is_ready INTO refusal, audio_is_ready
    FROM refer_asset(p_render.customer_id, p_render.audio_id, 'audio') AS asset;
    IF refusal IS NOT NULL THEN RETURN; END IF;
  END IF;
  IF p_render.preparation_id IS NOT NULL THEN
    refusal := preparation_refusal(
      p_render.customer_id, p_render.preparation_id, p_render.video_id, video_sha256);
    IF refusal IS NOT NULL THEN RETURN; END IF;
  END IF;
  IF NOT p_render.needed_engines <@ p_live_engines THEN refusal := 'engine_unavailable'; END IF;
  is_ready := video_is_ready AND audio_is_ready;
END $$;

-- Creates renders with their implicit assets, engine runs and jobs: each as a whole, or not at all with the reason in
-- `refusal`. With `bound_to` an earlier request with this key created that render. Outcomes are in the order of what is
-- given, which is best sorted by customer: the records of one are counted, under its lock, once for all that follow each
-- other. Rows are inserted for all at once, as most of what a statement costs here is paid once.
CREATE FUNCTION create_renders(
  p_renders jsonb, p_lock_timeout text, p_offer_seconds integer, p_default_active_max integer
) RETURNS TABLE (refusal text, bound_to text, at timestamptz, is_ready boolean) LANGUAGE plpgsql AS $$
DECLARE
  render new_render;
  accepted new_render[] := '{}';
  live_engines text[];
  counted_customer text;
  free_places integer;
BEGIN
  PERFORM set_config('lock_timeout', p_lock_timeout, true);
  SELECT COALESCE(array_agg(DISTINCT slot.key), '{}') INTO live_engines FROM workers, jsonb_each_text(workers.slots) AS slot
  WHERE seen_at > clock_timestamp() - make_interval(secs => p_offer_seconds) AND slot.value::integer > 0;

  FOR render IN SELECT * FROM jsonb_populate_recordset(NULL::new_render, p_renders) LOOP
    refusal := NULL;
    bound_to := NULL;
    -- In the resolution of the columns, so that the caller knows what was stored.
    render.at := date_trunc('milliseconds', clock_timestamp());
    render.expires_at := render.at + make_interval(secs => render.ttl_seconds);
    IF render.idempotency_key IS NOT NULL THEN
      SELECT key.refusal, key.bound_to INTO refusal, bound_to FROM reserve_idempotency_key(
        render.customer_id, render.idempotency_key, 'create_render', render.fingerprint, render.id,
        render.expires_at) AS key;
    END IF;
    IF refusal IS NULL AND bound_to IS NULL THEN
      SELECT checked.refusal, checked.is_ready INTO refusal, render.is_ready
      FROM check_new_render(render, live_engines) AS checked;
      IF refusal IS NULL THEN
        IF counted_customer IS DISTINCT FROM render.customer_id THEN
          counted_customer := render.customer_id;
          free_places := free_record_places(counted_customer, p_default_active_max);
        END IF;
        IF free_places > 0 THEN
          free_places := free_places - 1;
          accepted := accepted || render;
        ELSE
          refusal := 'concurrency_limit_exceeded';
        END IF;
      END IF;
      IF refusal IS NOT NULL THEN
        -- Only success binds the key.
        DELETE FROM idempotency_keys WHERE customer_id = render.customer_id AND key = render.idempotency_key;
      END IF;
    END IF;
    at := render.at;
    is_ready := render.is_ready;
    RETURN NEXT;
  END LOOP;
  PERFORM insert_renders(accepted);
END $$;

-- Writes renders that may be created.
CREATE FUNCTION insert_renders(p_renders new_render[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO renders (id, customer_id, status, stage, video_asset_id, audio_asset_id, sync_mode, preparation_id,
    webhook_url, trace_parent, created_at, updated_at, expires_at)
  SELECT id, customer_id, 'accepted', 'queued', video_id, audio_id, sync_mode, preparation_id,
    webhook_url, trace_parent, at, at, expires_at
  FROM unnest(p_renders);

  INSERT INTO engine_runs (id, render_id, customer_id, engine, position, status, stage, created_at, updated_at)
  SELECT run.id, render.id, customer_id, run.engine, run.ordinality - 1, 'accepted', 'queued', at, at
  FROM unnest(p_renders) AS render, unnest(run_ids, engines) WITH ORDINALITY AS run(id, engine, ordinality);

  INSERT INTO assets (id, customer_id, media_type, status, stage, source_url, trace_parent,
    created_at, updated_at, expires_at)
  SELECT source.id, customer_id, source.media_type, 'pending', 'queued', source.url, trace_parent, at, at, expires_at
  FROM unnest(p_renders) AS render,
    LATERAL (VALUES ('video', video_id, video_url), ('audio', audio_id, audio_url)) AS source(media_type, id, url)
  WHERE source.url IS NOT NULL;

  INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, asset_id, status, available_at, created_at)
  SELECT job.id, 'render', job.engine, customer_id, job.run_id, NULL,
    CASE WHEN is_ready THEN 'queued' ELSE 'blocked' END, at, at
  FROM unnest(p_renders) AS render, unnest(job_ids, engines, run_ids) AS job(id, engine, run_id)
  UNION ALL
  SELECT source.job_id, 'ingest', 'media', customer_id, NULL, source.id, 'queued', at, at
  FROM unnest(p_renders) AS render,
    LATERAL (VALUES (video_id, video_url, video_job_id), (audio_id, audio_url, audio_job_id)) AS source(id, url, job_id)
  WHERE source.url IS NOT NULL;
END $$;
