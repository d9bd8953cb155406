-- What the schema language cannot say: the rules that must hold whatever the code does, and partial indexes for the
-- queries that run every second. Dropping one of these is a decision, not a clean-up.

-- Vocabulary of the contract
ALTER TABLE "assets" ADD CONSTRAINT "assets_media_type_check" CHECK ("media_type" IN ('video', 'audio'));
ALTER TABLE "assets" ADD CONSTRAINT "assets_status_check" CHECK ("status" IN ('awaiting_upload', 'pending', 'ready', 'failed'));
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_status_check" CHECK ("status" IN ('awaiting_upload', 'completed', 'expired'));
ALTER TABLE "renders" ADD CONSTRAINT "renders_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled'));
ALTER TABLE "renders" ADD CONSTRAINT "renders_sync_mode_check" CHECK ("sync_mode" IN ('cut_off', 'bounce', 'loop', 'remap', 'silence'));
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled'));
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_engine_check" CHECK ("engine" IN ('musetalk', 'latentsync', 'highsync'));
ALTER TABLE "preparations" ADD CONSTRAINT "preparations_status_check" CHECK ("status" IN ('accepted', 'processing', 'completed', 'failed', 'cancelled'));
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_status_check" CHECK ("status" IN ('pending', 'delivered', 'failed'));

-- A terminal record has its completion time, an open one has not. 100 % means completed and nothing else.
ALTER TABLE "renders" ADD CONSTRAINT "renders_terminal_check" CHECK (("status" IN ('completed', 'failed', 'cancelled')) = ("completed_at" IS NOT NULL));
ALTER TABLE "renders" ADD CONSTRAINT "renders_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100));
ALTER TABLE "renders" ADD CONSTRAINT "renders_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL));
ALTER TABLE "preparations" ADD CONSTRAINT "preparations_terminal_check" CHECK (("status" IN ('completed', 'failed', 'cancelled')) = ("completed_at" IS NOT NULL));
ALTER TABLE "preparations" ADD CONSTRAINT "preparations_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100));
ALTER TABLE "preparations" ADD CONSTRAINT "preparations_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL));
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_progress_check" CHECK ("progress_percent" >= 0 AND "progress_percent" <= 100 AND ("status" = 'completed') = ("progress_percent" = 100));
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL));
ALTER TABLE "assets" ADD CONSTRAINT "assets_error_check" CHECK (("status" = 'failed') = ("error_code" IS NOT NULL));

-- A result exists where it is promised, until its bytes are purged.
ALTER TABLE "assets" ADD CONSTRAINT "assets_ready_check" CHECK ("status" <> 'ready' OR "object_key" IS NOT NULL OR "purged_at" IS NOT NULL);

-- A job has exactly the subject of its kind, and holds a lease exactly while it runs.
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_subject_check" CHECK (
  ("asset_id" IS NOT NULL) = ("kind" = 'ingest')
  AND ("preparation_id" IS NOT NULL) = ("kind" = 'analyze')
  AND ("engine_run_id" IS NOT NULL) = ("kind" = 'render')
  AND "kind" IN ('ingest', 'analyze', 'render')
);
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_status_check" CHECK ("status" IN ('blocked', 'queued', 'running', 'finished'));
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_lease_check" CHECK (("status" = 'running') = ("lease_until" IS NOT NULL));
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_counters_check" CHECK ("attempts" >= 0 AND "fence" >= "attempts" AND "dispatch_seq" >= 0);

-- One event belongs to one record, and its type says which kind.
ALTER TABLE "webhook_events" ADD CONSTRAINT "webhook_events_subject_check" CHECK (
  ("type" IN ('render.completed', 'render.failed', 'render.cancelled') AND "render_id" IS NOT NULL AND "preparation_id" IS NULL)
  OR ("type" IN ('preparation.completed', 'preparation.failed') AND "preparation_id" IS NOT NULL AND "render_id" IS NULL)
);
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_schedule_check" CHECK (("status" = 'pending') = ("next_attempt_at" IS NOT NULL));

-- CreateIndex
CREATE INDEX "jobs_backlog_idx" ON "jobs"("queue", "customer_id", "created_at") WHERE "status" = 'queued' AND "dispatched_at" IS NULL;
CREATE INDEX "jobs_in_flight_idx" ON "jobs"("queue", "customer_id") WHERE "status" = 'running' OR ("status" = 'queued' AND "dispatched_at" IS NOT NULL);
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries"("next_attempt_at") WHERE "status" = 'pending';
