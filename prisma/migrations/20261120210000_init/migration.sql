-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
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

-- CreateTable
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

-- CreateTable
CREATE TABLE "webhook_secrets" (
    "id" TEXT NOT NULL,
    "customer_id" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secrets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "purged_at" TIMESTAMPTZ(3),

    CONSTRAINT "assets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "uploads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "purged_at" TIMESTAMPTZ(3),

    CONSTRAINT "renders_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "usage" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "engine_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "preparations" (
    "id" TEXT NOT NULL,
    "customer_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "stage" TEXT NOT NULL,
    "progress_percent" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "video_asset_id" TEXT NOT NULL,
    "webhook_url" TEXT,
    "error_code" TEXT,
    "version" TEXT,
    "analyzer_version" TEXT,
    "frames" INTEGER,
    "fps" INTEGER,
    "width" INTEGER,
    "height" INTEGER,
    "duration_seconds" DOUBLE PRECISION,
    "video_sha256" TEXT,
    "track_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "purged_at" TIMESTAMPTZ(3),

    CONSTRAINT "preparations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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
    "dispatch_seq" INTEGER NOT NULL DEFAULT 0,
    "dispatched_at" TIMESTAMPTZ(3),
    "worker_id" TEXT,
    "last_error_code" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_events" (
    "id" TEXT NOT NULL,
    "customer_id" TEXT NOT NULL,
    "render_id" TEXT,
    "preparation_id" TEXT,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
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

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "customer_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("customer_id","key")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "service" TEXT NOT NULL,
    "slots" JSONB NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_customer_id_idx" ON "api_keys"("customer_id");

-- CreateIndex
CREATE INDEX "webhook_secrets_customer_id_created_at_idx" ON "webhook_secrets"("customer_id", "created_at");

-- CreateIndex
CREATE INDEX "assets_customer_id_idx" ON "assets"("customer_id");

-- CreateIndex
CREATE INDEX "assets_expires_at_idx" ON "assets"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "uploads_asset_id_key" ON "uploads"("asset_id");

-- CreateIndex
CREATE INDEX "uploads_customer_id_status_idx" ON "uploads"("customer_id", "status");

-- CreateIndex
CREATE INDEX "uploads_expires_at_idx" ON "uploads"("expires_at");

-- CreateIndex
CREATE INDEX "renders_customer_id_status_idx" ON "renders"("customer_id", "status");

-- CreateIndex
CREATE INDEX "renders_video_asset_id_idx" ON "renders"("video_asset_id");

-- CreateIndex
CREATE INDEX "renders_audio_asset_id_idx" ON "renders"("audio_asset_id");

-- CreateIndex
CREATE INDEX "renders_status_created_at_idx" ON "renders"("status", "created_at");

-- CreateIndex
CREATE INDEX "renders_expires_at_idx" ON "renders"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "engine_runs_render_id_engine_key" ON "engine_runs"("render_id", "engine");

-- CreateIndex
CREATE INDEX "preparations_customer_id_status_idx" ON "preparations"("customer_id", "status");

-- CreateIndex
CREATE INDEX "preparations_video_asset_id_idx" ON "preparations"("video_asset_id");

-- CreateIndex
CREATE INDEX "preparations_status_created_at_idx" ON "preparations"("status", "created_at");

-- CreateIndex
CREATE INDEX "preparations_expires_at_idx" ON "preparations"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "jobs_asset_id_key" ON "jobs"("asset_id");

-- CreateIndex
CREATE UNIQUE INDEX "jobs_preparation_id_key" ON "jobs"("preparation_id");

-- CreateIndex
CREATE UNIQUE INDEX "jobs_engine_run_id_key" ON "jobs"("engine_run_id");

-- CreateIndex
CREATE INDEX "jobs_queue_status_available_at_idx" ON "jobs"("queue", "status", "available_at");

-- CreateIndex
CREATE INDEX "jobs_status_lease_until_idx" ON "jobs"("status", "lease_until");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_events_render_id_key" ON "webhook_events"("render_id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_events_preparation_id_key" ON "webhook_events"("preparation_id");

-- CreateIndex
CREATE INDEX "webhook_events_expires_at_idx" ON "webhook_events"("expires_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_event_id_created_at_idx" ON "webhook_deliveries"("event_id", "created_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_status_next_attempt_at_idx" ON "webhook_deliveries"("status", "next_attempt_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- CreateIndex
CREATE INDEX "workers_seen_at_idx" ON "workers"("seen_at");
