-- without transaction
-- Every change of a row is an entry in each index that holds it. What these were for, others do since the migrations
-- before this one; leases, which are renewed every few seconds, are looked for among the jobs that run.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_asset_id_key";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_preparation_id_key";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_engine_run_id_key";
DROP INDEX CONCURRENTLY IF EXISTS "jobs_status_lease_until_idx";
-- By this, open records of one customer were sometimes counted among those of all.
DROP INDEX CONCURRENTLY IF EXISTS "renders_status_created_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "preparations_status_created_at_idx";
