-- Creating a render in one round trip: a dozen statements whose locks would otherwise be held over as many waits for
-- the network. A function rather than one statement, because each of its steps must see what was committed while the
-- step before it waited for a lock. A refusal is a value and not an error: nothing is rolled back, nothing is logged.
--
-- Processes of two releases call these side by side during an upgrade: a later migration adds a function under a new
-- name, and drops the old one a release later.

-- Binds a key to a resource that the caller is about to create. A concurrent duplicate waits until the first one has
-- committed or rolled back, as long as the caller's lock_timeout allows. `bound_to` names what an earlier request created;
-- both null: it is bound now.
CREATE FUNCTION reserve_idempotency_key(
  p_customer_id text, p_key text, p_operation text, p_fingerprint text, p_resource_id text, p_expires_at timestamptz,
  OUT refusal text, OUT bound_to text
) LANGUAGE plpgsql AS $$
DECLARE
  bound idempotency_keys;
BEGIN
  -- A key that expired under our eyes is replaced; more often than this it cannot.
  FOR round IN 1..4 LOOP
    BEGIN
      INSERT INTO idempotency_keys (customer_id, key, operation, fingerprint, resource_id, expires_at)
      VALUES (p_customer_id, p_key, p_operation, p_fingerprint, p_resource_id, p_expires_at)
      ON CONFLICT (customer_id, key) DO NOTHING;
      IF FOUND THEN RETURN; END IF;
    EXCEPTION WHEN lock_not_available THEN
      refusal := 'idempotency_in_progress';
      RETURN;
    END;
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

-- Says whether the customer may have one more accepted or processing record. Counting and inserting are one step: until
-- the caller commits, nobody else counts this customer's records.
CREATE FUNCTION take_record_slot(p_customer_id text, p_default_max integer) RETURNS boolean LANGUAGE plpgsql AS $$
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
  RETURN active < active_max;
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

-- An asset that will be fetched from a URL, with the job that fetches it.
CREATE FUNCTION insert_url_asset(
  p_asset_id text, p_customer_id text, p_media_type text, p_url text, p_trace_parent text,
  p_now timestamptz, p_expires_at timestamptz, p_job_id text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO assets (id, customer_id, media_type, status, stage, source_url, trace_parent,
    created_at, updated_at, expires_at)
  VALUES (p_asset_id, p_customer_id, p_media_type, 'pending', 'queued', p_url, p_trace_parent,
    p_now, p_now, p_expires_at);
  INSERT INTO jobs (id, kind, queue, customer_id, asset_id, status, available_at, created_at)
  VALUES (p_job_id, 'ingest', 'media', p_customer_id, p_asset_id, 'queued', p_now, p_now);
END $$;

-- Creates a render with its implicit assets, engine runs and jobs, or nothing. What it is given is checked before, ids are
-- the caller's, `at` is now. An input with a URL becomes an asset under its id, one without is an asset that exists.
-- `needed_engines` are those that must have a live worker. With `bound_to` an earlier request with this key created that
-- render; with neither that nor a refusal this one was created.
CREATE FUNCTION create_render(
  p_render jsonb, p_lock_timeout text,
  OUT refusal text, OUT bound_to text, OUT at timestamptz, OUT is_ready boolean
) LANGUAGE plpgsql AS $$
DECLARE
  render record;
  expiry timestamptz;
  video_is_ready boolean := false;
  video_sha256 text;
  audio_is_ready boolean := false;
BEGIN
  SELECT * INTO render FROM jsonb_to_record(p_render) AS given(
    id text, customer_id text, ttl_seconds integer, idempotency_key text, fingerprint text,
    video_id text, video_url text, video_job_id text, audio_id text, audio_url text, audio_job_id text,
    preparation_id text, sync_mode text, webhook_url text, trace_parent text,
    engines text[], run_ids text[], job_ids text[],
    needed_engines text[], offer_seconds integer, default_active_max integer);
  PERFORM set_config('lock_timeout', p_lock_timeout, true);
  -- In the resolution of the columns, so that the caller knows what was stored.
  at := date_trunc('milliseconds', clock_timestamp());
  expiry := at + make_interval(secs => render.ttl_seconds);
  IF render.idempotency_key IS NOT NULL THEN
    SELECT key.refusal, key.bound_to INTO refusal, bound_to FROM reserve_idempotency_key(
      render.customer_id, render.idempotency_key, 'create_render', render.fingerprint, render.id, expiry) AS key;
    IF refusal IS NOT NULL OR bound_to IS NOT NULL THEN RETURN; END IF;
  END IF;

  <<checks>>
  BEGIN
    IF render.video_url IS NULL THEN
      SELECT asset.refusal, asset.is_ready, asset.sha256 INTO refusal, video_is_ready, video_sha256
      FROM refer_asset(render.customer_id, render.video_id, 'video') AS asset;
      EXIT checks WHEN refusal IS NOT NULL;
    END IF;
    IF render.audio_url IS NULL THEN
      SELECT asset.refusal, asset.is_ready INTO refusal, audio_is_ready
      FROM refer_asset(render.customer_id, render.audio_id, 'audio') AS asset;
      EXIT checks WHEN refusal IS NOT NULL;
    END IF;
    IF render.preparation_id IS NOT NULL THEN
      refusal := preparation_refusal(
        render.customer_id, render.preparation_id, render.video_id, video_sha256);
      EXIT checks WHEN refusal IS NOT NULL;
    END IF;
    IF EXISTS (
      SELECT FROM unnest(render.needed_engines) AS needed(engine)
      WHERE NOT EXISTS (
        SELECT FROM workers
        WHERE seen_at > clock_timestamp() - make_interval(secs => render.offer_seconds)
          AND (slots ->> engine)::integer > 0
      )
    ) THEN
      refusal := 'engine_unavailable';
      EXIT checks;
    END IF;
    IF NOT take_record_slot(render.customer_id, render.default_active_max) THEN
      refusal := 'concurrency_limit_exceeded';
    END IF;
  END checks;
  IF refusal IS NOT NULL THEN
    -- Only success binds the key.
    DELETE FROM idempotency_keys WHERE customer_id = render.customer_id AND key = render.idempotency_key;
    RETURN;
  END IF;

  IF render.video_url IS NOT NULL THEN
    PERFORM insert_url_asset(render.video_id, render.customer_id, 'video', render.video_url, render.trace_parent,
      at, expiry, render.video_job_id);
  END IF;
  IF render.audio_url IS NOT NULL THEN
    PERFORM insert_url_asset(render.audio_id, render.customer_id, 'audio', render.audio_url, render.trace_parent,
      at, expiry, render.audio_job_id);
  END IF;
  INSERT INTO renders (id, customer_id, status, stage, video_asset_id, audio_asset_id, sync_mode, preparation_id,
    webhook_url, trace_parent, created_at, updated_at, expires_at)
  VALUES (render.id, render.customer_id, 'accepted', 'queued', render.video_id, render.audio_id, render.sync_mode,
    render.preparation_id, render.webhook_url, render.trace_parent, at, at, expiry);
  INSERT INTO engine_runs (id, render_id, customer_id, engine, position, status, stage, created_at, updated_at)
  SELECT run.id, render.id, render.customer_id, run.engine, run.ordinality - 1, 'accepted', 'queued', at, at
  FROM unnest(render.run_ids, render.engines) WITH ORDINALITY AS run(id, engine, ordinality);
  is_ready := video_is_ready AND audio_is_ready;
  INSERT INTO jobs (id, kind, queue, customer_id, engine_run_id, status, available_at, created_at)
  SELECT job.id, 'render', job.engine, render.customer_id, job.run_id,
    CASE WHEN is_ready THEN 'queued' ELSE 'blocked' END, at, at
  FROM unnest(render.job_ids, render.engines, render.run_ids) AS job(id, engine, run_id);
END $$;
