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
