-- without transaction
-- As that of assets.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_preparation_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_preparation_key" ON "jobs"("preparation_id") WHERE "preparation_id" IS NOT NULL;
