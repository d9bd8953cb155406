-- without transaction
-- Every change of a row is an entry in each index that holds it: none for records that have ended, for what a job is not
-- about, or for a lease, which is renewed every few seconds and is looked for among the jobs that run.

-- What a customer has open is counted with every create, and all that is open is looked through for what is overdue.
DROP INDEX CONCURRENTLY IF EXISTS "renders_open_idx";
CREATE INDEX CONCURRENTLY "renders_open_idx" ON "renders"("customer_id") WHERE "status" IN ('accepted', 'processing');
DROP INDEX CONCURRENTLY IF EXISTS "renders_customer_id_status_idx";
DROP INDEX CONCURRENTLY IF EXISTS "renders_status_created_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "preparations_open_idx";
CREATE INDEX CONCURRENTLY "preparations_open_idx" ON "preparations"("customer_id") WHERE "status" IN ('accepted', 'processing');
DROP INDEX CONCURRENTLY IF EXISTS "preparations_customer_id_status_idx";
DROP INDEX CONCURRENTLY IF EXISTS "preparations_status_created_at_idx";

-- The backlog by queue, and what waits in a queue that nobody serves.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_open_idx";
CREATE INDEX CONCURRENTLY "jobs_open_idx" ON "jobs"("queue", "available_at") WHERE "status" IN ('blocked', 'queued', 'running');
DROP INDEX CONCURRENTLY IF EXISTS "jobs_queue_status_available_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_status_lease_until_idx";

-- One job for each subject: of the three that a job could have, it has one.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_asset_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_asset_key" ON "jobs"("asset_id") WHERE "asset_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "jobs_asset_id_key";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_preparation_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_preparation_key" ON "jobs"("preparation_id") WHERE "preparation_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "jobs_preparation_id_key";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_engine_run_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_engine_run_key" ON "jobs"("engine_run_id") WHERE "engine_run_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "jobs_engine_run_id_key";
