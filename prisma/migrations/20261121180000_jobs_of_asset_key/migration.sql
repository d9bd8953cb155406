-- without transaction
-- One job for each subject: of the three that a job could have, it has one, and is an entry in the index of that alone.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_of_asset_key";
CREATE UNIQUE INDEX CONCURRENTLY "jobs_of_asset_key" ON "jobs"("asset_id") WHERE "asset_id" IS NOT NULL;
