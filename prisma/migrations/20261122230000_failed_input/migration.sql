-- Which input of its render an engine run failed for. Those that are there have none: nobody need look through them.
ALTER TABLE "engine_runs" ADD COLUMN "failed_input" TEXT;
ALTER TABLE "engine_runs" ADD CONSTRAINT "engine_runs_failed_input_check" CHECK ("failed_input" IS NULL OR ("failed_input" IN ('video', 'audio') AND "status" = 'failed')) NOT VALID;
