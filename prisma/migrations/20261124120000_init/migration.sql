-- Each table with its rules and its indexes. The rules (CHECK) are what must hold whatever the code does; partial indexes
-- are for what is looked for every few seconds. Dropping one of these is a decision, not a clean-up.

CREATE TABLE "customers" (
  "id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "post_per_minute" INTEGER,
  "get_per_minute" INTEGER,
  "active_records_max" INTEGER,
  "running_jobs_max" INTEGER,
  "open_uploads_max" INTEGER,
  CONSTRAINT "customers_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_keys" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "hash" TEXT NOT NULL,
  "last_four" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_used_at" TIMESTAMPTZ(3),
  "revoked_at" TIMESTAMPTZ(3),
  CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");
CREATE INDEX "api_keys_customer_id_idx" ON "api_keys"("customer_id");

CREATE TABLE "webhook_secrets" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "ciphertext" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "active_from" TIMESTAMPTZ(3),
  "retired_at" TIMESTAMPTZ(3),
  CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "webhook_secrets_customer_id_created_at_idx" ON "webhook_secrets"("customer_id", "created_at");

CREATE TABLE "assets" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "media_type" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "stage" TEXT NOT NULL,
  "source_url" TEXT,
  "content_type" TEXT,
  "object_key" TEXT,
  "sha256" TEXT,
  "size_bytes" BIGINT NOT NULL DEFAULT 0,
  "duration_seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "codec" TEXT NOT NULL DEFAULT 'unknown',
  "width" INTEGER,
  "height" INTEGER,
  "frames" INTEGER,
  "fps" DOUBLE PRECISION,
  "error_code" TEXT,
  "error_detail" TEXT,
  "trace_parent" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "purged_at" TIMESTAMPTZ(3),
  CONSTRAINT "assets_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "assets_media_type_check" CHECK ("media_type" IN ('video', 'audio')),
  CONSTRAINT "assets_status_check" CHECK ("status" IN ('awaiting_upload', 'pending', 'ready', 'failed')),
  CONSTRAINT "assets_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL)),
  -- A result exists where it is promised, until its bytes are purged.
  CONSTRAINT "assets_ready_check" CHECK ("status" <> 'ready' OR "object_key" IS NOT NULL OR "purged_at" IS NOT NULL)
);
CREATE INDEX "assets_customer_id_idx" ON "assets"("customer_id");
-- What expired and has its bytes yet, and the tombstones of what has not: of 37 days of rows, 30 are tombstones. A row is
-- in one of the two, so that creating it writes to few indexes.
CREATE INDEX "assets_unpurged_idx" ON "assets"("expires_at") WHERE "purged_at" IS NULL;
CREATE INDEX "assets_purged_idx" ON "assets"("expires_at") WHERE "purged_at" IS NOT NULL;

CREATE TABLE "uploads" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "asset_id" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "content_type" TEXT NOT NULL,
  "size_bytes" BIGINT NOT NULL,
  "staging_key" TEXT NOT NULL,
  "etag" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "completed_at" TIMESTAMPTZ(3),
  "purged_at" TIMESTAMPTZ(3),
  CONSTRAINT "uploads_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "uploads_status_check" CHECK ("status" IN ('awaiting_upload', 'completed', 'expired'))
);
CREATE UNIQUE INDEX "uploads_asset_id_key" ON "uploads"("asset_id");
CREATE INDEX "uploads_customer_id_status_idx" ON "uploads"("customer_id", "status");
-- Uploads that nobody completed. `completed_at` beside the state, for only the look for these names both: an index by the
-- state alone looks shorter than the primary key to a statement about one upload, and by it the uploads that one customer
-- has open would be counted among those of all.
CREATE INDEX "uploads_waiting_idx" ON "uploads"("expires_at") WHERE "status" = 'awaiting_upload' AND "completed_at" IS NULL;
-- An upload goes with its asset: nobody looks for its tombstone.
CREATE INDEX "uploads_unpurged_idx" ON "uploads"("expires_at") WHERE "purged_at" IS NULL;

CREATE TABLE "renders" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "stage" TEXT NOT NULL,
  "progress_percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "video_asset_id" TEXT NOT NULL,
  "audio_asset_id" TEXT NOT NULL,
  "sync_mode" TEXT NOT NULL,
  "preparation_id" TEXT,
  "webhook_url" TEXT,
  "error_code" TEXT,
  "trace_parent" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "completed_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "purged_at" TIMESTAMPTZ(3),
  CONSTRAINT "renders_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "renders_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled')),
  CONSTRAINT "renders_sync_mode_check" CHECK ("sync_mode" IN ('cut_off', 'bounce', 'loop', 'remap', 'silence')),
  -- A terminal record has its completion time, an open one has not. 100 % means completed and nothing else.
  CONSTRAINT "renders_terminal_check" CHECK (("status" IN ('completed', 'failed', 'cancelled')) = ("completed_at" IS NOT NULL)),
  CONSTRAINT "renders_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100)),
  CONSTRAINT "renders_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL))
);
CREATE INDEX "renders_customer_id_status_idx" ON "renders"("customer_id", "status");
CREATE INDEX "renders_video_asset_id_idx" ON "renders"("video_asset_id");
CREATE INDEX "renders_audio_asset_id_idx" ON "renders"("audio_asset_id");
-- What is looked through for records that are overdue. Not by status, which statements about one record name beside its
-- id: where statistics know of nothing open, the planner takes an index of what is open for shorter than the primary key.
CREATE INDEX "renders_uncompleted_idx" ON "renders"("created_at") WHERE "completed_at" IS NULL;
CREATE INDEX "renders_unpurged_idx" ON "renders"("expires_at") WHERE "purged_at" IS NULL;
CREATE INDEX "renders_purged_idx" ON "renders"("expires_at") WHERE "purged_at" IS NOT NULL;

CREATE TABLE "engine_runs" (
  "id" TEXT NOT NULL,
  "render_id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "engine" TEXT NOT NULL,
  "position" INTEGER NOT NULL,
  "status" TEXT NOT NULL,
  "stage" TEXT NOT NULL,
  "progress_percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "output_key" TEXT,
  "error_code" TEXT,
  "error_detail" TEXT,
  "failed_input" TEXT,
  "usage" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "engine_runs_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "engine_runs_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled')),
  CONSTRAINT "engine_runs_engine_check" CHECK ("engine" IN ('musetalk', 'latentsync', 'highsync')),
  CONSTRAINT "engine_runs_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100)),
  CONSTRAINT "engine_runs_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL)),
  CONSTRAINT "engine_runs_failed_input_check" CHECK ("failed_input" IS NULL OR ("failed_input" IN ('video', 'audio') AND "status" = 'failed'))
);
CREATE UNIQUE INDEX "engine_runs_render_id_engine_key" ON "engine_runs"("render_id", "engine");

CREATE TABLE "preparations" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "stage" TEXT NOT NULL,
  "progress_percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
  "video_asset_id" TEXT NOT NULL,
  "webhook_url" TEXT,
  "error_code" TEXT,
  "error_detail" TEXT,
  "version" TEXT,
  "analyzer_version" TEXT,
  "frames" INTEGER,
  "fps" INTEGER,
  "width" INTEGER,
  "height" INTEGER,
  "duration_seconds" DOUBLE PRECISION,
  "video_sha256" TEXT,
  "trace_parent" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "completed_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "purged_at" TIMESTAMPTZ(3),
  CONSTRAINT "preparations_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "preparations_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled')),
  CONSTRAINT "preparations_terminal_check" CHECK (("status" IN ('completed', 'failed', 'cancelled')) = ("completed_at" IS NOT NULL)),
  CONSTRAINT "preparations_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100)),
  CONSTRAINT "preparations_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL))
);
CREATE INDEX "preparations_customer_id_status_idx" ON "preparations"("customer_id", "status");
CREATE INDEX "preparations_video_asset_id_idx" ON "preparations"("video_asset_id");
CREATE INDEX "preparations_uncompleted_idx" ON "preparations"("created_at") WHERE "completed_at" IS NULL;
CREATE INDEX "preparations_unpurged_idx" ON "preparations"("expires_at") WHERE "purged_at" IS NULL;
CREATE INDEX "preparations_purged_idx" ON "preparations"("expires_at") WHERE "purged_at" IS NOT NULL;

CREATE TABLE "features" (
  "customer_id" TEXT NOT NULL,
  "video_sha256" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "sha256" TEXT,
  "error_code" TEXT,
  "frames" INTEGER NOT NULL DEFAULT 0,
  "complete" BOOLEAN NOT NULL DEFAULT false,
  "maker_job_id" TEXT,
  "maker_fence" INTEGER,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "features_pkey" PRIMARY KEY ("customer_id", "video_sha256", "name"),
  -- A feature has a content, or the reason why there is none, or nothing yet; a maker is one claim of one job.
  CONSTRAINT "features_content_check" CHECK (
    ("sha256" IS NULL OR "error_code" IS NULL)
    AND ("sha256" IS NOT NULL OR "error_code" IS NOT NULL OR ("frames" = 0 AND NOT "complete"))
    AND "frames" >= 0
  ),
  CONSTRAINT "features_maker_check" CHECK (("maker_job_id" IS NULL) = ("maker_fence" IS NULL))
);
CREATE INDEX "features_expires_at_idx" ON "features"("expires_at");

CREATE TABLE "feature_objects" (
  "customer_id" TEXT NOT NULL,
  "video_sha256" TEXT NOT NULL,
  "sha256" TEXT NOT NULL,
  "size_bytes" BIGINT NOT NULL,
  "kept_until" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "feature_objects_pkey" PRIMARY KEY ("customer_id", "video_sha256", "sha256")
);
CREATE INDEX "feature_objects_kept_until_idx" ON "feature_objects"("kept_until");

CREATE TABLE "jobs" (
  "id" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "queue" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "asset_id" TEXT,
  "preparation_id" TEXT,
  "engine_run_id" TEXT,
  "status" TEXT NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "fence" INTEGER NOT NULL DEFAULT 0,
  "lease_until" TIMESTAMPTZ(3),
  "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "enqueue_seq" INTEGER NOT NULL DEFAULT 0,
  "enqueued_at" TIMESTAMPTZ(3),
  "worker_id" TEXT,
  "last_error_code" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "jobs_pkey" PRIMARY KEY ("id"),
  -- A job has exactly the subject of its kind, and holds a lease exactly while it runs.
  CONSTRAINT "jobs_subject_check" CHECK (
    ("asset_id" IS NOT NULL) = ("kind" = 'ingest')
    AND ("preparation_id" IS NOT NULL) = ("kind" = 'analyze')
    AND ("engine_run_id" IS NOT NULL) = ("kind" = 'render')
    AND "kind" IN ('ingest', 'analyze', 'render')
  ),
  CONSTRAINT "jobs_status_check" CHECK ("status" IN ('blocked', 'queued', 'running', 'finished')),
  CONSTRAINT "jobs_lease_check" CHECK (("status" = 'running') = ("lease_until" IS NOT NULL)),
  CONSTRAINT "jobs_counters_check" CHECK ("attempts" >= 0 AND "fence" >= "attempts" AND "enqueue_seq" >= 0)
);
-- One job for each subject: of the three that a job could have, it has one, and is an entry in the index of that alone.
-- Every change of a row is an entry in each index that holds it.
CREATE UNIQUE INDEX "jobs_of_asset_key" ON "jobs"("asset_id") WHERE "asset_id" IS NOT NULL;
CREATE UNIQUE INDEX "jobs_of_preparation_key" ON "jobs"("preparation_id") WHERE "preparation_id" IS NOT NULL;
CREATE UNIQUE INDEX "jobs_of_engine_run_key" ON "jobs"("engine_run_id") WHERE "engine_run_id" IS NOT NULL;
CREATE INDEX "jobs_queue_status_available_at_idx" ON "jobs"("queue", "status", "available_at");
CREATE INDEX "jobs_backlog_idx" ON "jobs"("queue", "customer_id", "created_at") WHERE "status" = 'queued' AND "enqueued_at" IS NULL;
-- Leases, which are renewed every few seconds, are looked for among the jobs that run.
CREATE INDEX "jobs_in_flight_idx" ON "jobs"("queue", "customer_id") WHERE "status" = 'running' OR ("status" = 'queued' AND "enqueued_at" IS NOT NULL);

CREATE TABLE "webhook_events" (
  "id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "render_id" TEXT,
  "preparation_id" TEXT,
  "type" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("id"),
  -- One event belongs to one record, and its type says which kind.
  CONSTRAINT "webhook_events_subject_check" CHECK (
    ("type" IN ('render.completed', 'render.failed', 'render.cancelled') AND "render_id" IS NOT NULL AND "preparation_id" IS NULL)
    OR ("type" IN ('preparation.completed', 'preparation.failed') AND "preparation_id" IS NOT NULL AND "render_id" IS NULL)
  )
);
CREATE UNIQUE INDEX "webhook_events_render_id_key" ON "webhook_events"("render_id");
CREATE UNIQUE INDEX "webhook_events_preparation_id_key" ON "webhook_events"("preparation_id");
CREATE INDEX "webhook_events_expires_at_idx" ON "webhook_events"("expires_at");

CREATE TABLE "webhook_deliveries" (
  "id" TEXT NOT NULL,
  "event_id" TEXT NOT NULL,
  "customer_id" TEXT NOT NULL,
  "url" TEXT NOT NULL,
  "origin" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_attempt_at" TIMESTAMPTZ(3),
  "lease_until" TIMESTAMPTZ(3),
  "claim_token" TEXT,
  "last_http_status" INTEGER,
  "last_error" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "webhook_deliveries_status_check" CHECK ("status" IN ('pending', 'delivered', 'failed')),
  CONSTRAINT "webhook_deliveries_schedule_check" CHECK (("status" = 'pending') = ("next_attempt_at" IS NOT NULL)),
  CONSTRAINT "webhook_deliveries_lease_check" CHECK ("lease_until" IS NULL OR "status" = 'pending')
);
CREATE INDEX "webhook_deliveries_event_id_created_at_idx" ON "webhook_deliveries"("event_id", "created_at");
CREATE INDEX "webhook_deliveries_leased_idx" ON "webhook_deliveries"("lease_until") WHERE "lease_until" IS NOT NULL;
-- Customers with a pending delivery, each with its deliveries in order.
CREATE INDEX "webhook_deliveries_by_customer_idx" ON "webhook_deliveries"("customer_id", "next_attempt_at", "id") WHERE "status" = 'pending';
-- The condition means the same (webhook_deliveries_schedule_check), but Postgres does not know that. So it never reads
-- this index in place of the one above, which is as short to it after a night in which nothing was pending.
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries"("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;

CREATE TABLE "idempotency_keys" (
  "customer_id" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "operation" TEXT NOT NULL,
  "fingerprint" TEXT NOT NULL,
  "resource_id" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("customer_id", "key")
);
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

CREATE TABLE "workers" (
  "id" TEXT NOT NULL,
  "service" TEXT NOT NULL,
  "slots" JSONB NOT NULL,
  "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "workers_seen_at_idx" ON "workers"("seen_at");

CREATE TABLE "reconciliation" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "ran_at" TIMESTAMPTZ(3) NOT NULL,
  "resumed_at" TIMESTAMPTZ(3),
  CONSTRAINT "reconciliation_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "reconciliation_single_check" CHECK ("id" = 1)
);

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
