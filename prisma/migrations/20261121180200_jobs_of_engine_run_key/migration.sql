-- without transaction
-- As that of assets.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_engine_run_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_engine_run_key" ON "jobs"("engine_run_id") WHERE "engine_run_id" IS NOT NULL;
