-- What each ended run used, kept for years: it outlives the run, so it refers to nothing.
CREATE TABLE "run_usage" (
  "id" TEXT NOT NULL,
  "render_id" TEXT,
  "customer_id" TEXT,
  "engine" TEXT NOT NULL,
  "outcome" TEXT NOT NULL,
  "finished_at" TIMESTAMPTZ(3) NOT NULL,
  "input_video_seconds" DOUBLE PRECISION,
  "input_audio_seconds" DOUBLE PRECISION,
  "output_seconds" DOUBLE PRECISION,
  "frames" INTEGER,
  "gpu_seconds" DOUBLE PRECISION,
  "cost_usd" DOUBLE PRECISION,
  CONSTRAINT "run_usage_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "run_usage_outcome_check" CHECK ("outcome" IN ('completed', 'failed', 'cancelled')),
  -- Who is erased leaves neither an id of its own nor one that it knows.
  CONSTRAINT "run_usage_anonymous_check" CHECK (("customer_id" IS NULL) = ("render_id" IS NULL))
);
CREATE INDEX "run_usage_finished_at_idx" ON "run_usage"("finished_at");
CREATE INDEX "run_usage_customer_id_finished_at_idx" ON "run_usage"("customer_id", "finished_at");

-- Written by the database in the statement that ends the run, whoever ends it, the release before included. It runs
-- with its owner's rights, so that no service needs the right to write usage. What is there already is left as it is.
CREATE FUNCTION "record_run_usage"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO "run_usage" VALUES (
    NEW."id", NEW."render_id", NEW."customer_id", NEW."engine", NEW."status", NEW."updated_at",
    (NEW."usage"->>'input_video_seconds')::float8, (NEW."usage"->>'input_audio_seconds')::float8,
    (NEW."usage"->>'output_seconds')::float8, (NEW."usage"->>'rendered_frames')::int,
    (NEW."usage"->>'gpu_inference_seconds')::float8, (NEW."usage"->>'estimated_compute_usd')::float8
  ) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
-- The tables' own schema, and temporary tables last: a caller cannot put one of its own in their place.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION "record_run_usage"() SET search_path = %I, pg_temp', current_schema());
END $$;
CREATE TRIGGER "record_run_usage" AFTER UPDATE OF "status" ON "engine_runs" FOR EACH ROW
  WHEN (OLD."status" IN ('accepted', 'processing') AND NEW."status" IN ('completed', 'failed', 'cancelled'))
  EXECUTE FUNCTION "record_run_usage"();

-- Whoever is granted it may delete what is older than a year, and take from a row whose it was; the owner, everything.
ALTER TABLE "run_usage" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "read" ON "run_usage" FOR SELECT USING (true);
CREATE POLICY "delete_after_a_year" ON "run_usage" FOR DELETE USING ("finished_at" < now() - interval '1 year');
CREATE POLICY "make_anonymous" ON "run_usage" FOR UPDATE USING (true) WITH CHECK ("customer_id" IS NULL);
