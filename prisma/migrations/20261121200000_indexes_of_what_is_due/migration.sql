-- without transaction
-- What is looked for every few seconds is found among what it can be: of 37 days of rows, 30 are tombstones.
--
-- Uploads that nobody completed. `completed_at` beside the state, for only the look for these names both: an index by the
-- state alone looks shorter than the primary key to a statement about one upload, and by it the uploads that one customer
-- has open would be counted among those of all.
DROP INDEX CONCURRENTLY IF EXISTS "uploads_waiting_idx";
CREATE INDEX CONCURRENTLY "uploads_waiting_idx" ON "uploads"("expires_at") WHERE "status" = 'awaiting_upload' AND "completed_at" IS NULL;

-- What expired and has its bytes yet, and the tombstones of what has not. A row is in one of the two, so that creating it
-- writes to as many indexes as before. An upload goes with its asset: nobody looks for its tombstone.
DROP INDEX CONCURRENTLY IF EXISTS "uploads_unpurged_idx";
CREATE INDEX CONCURRENTLY "uploads_unpurged_idx" ON "uploads"("expires_at") WHERE "purged_at" IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS "assets_unpurged_idx";
CREATE INDEX CONCURRENTLY "assets_unpurged_idx" ON "assets"("expires_at") WHERE "purged_at" IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS "assets_purged_idx";
CREATE INDEX CONCURRENTLY "assets_purged_idx" ON "assets"("expires_at") WHERE "purged_at" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "renders_unpurged_idx";
CREATE INDEX CONCURRENTLY "renders_unpurged_idx" ON "renders"("expires_at") WHERE "purged_at" IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS "renders_purged_idx";
CREATE INDEX CONCURRENTLY "renders_purged_idx" ON "renders"("expires_at") WHERE "purged_at" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "preparations_unpurged_idx";
CREATE INDEX CONCURRENTLY "preparations_unpurged_idx" ON "preparations"("expires_at") WHERE "purged_at" IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS "preparations_purged_idx";
CREATE INDEX CONCURRENTLY "preparations_purged_idx" ON "preparations"("expires_at") WHERE "purged_at" IS NOT NULL;

-- What these were for, those above do.
DROP INDEX CONCURRENTLY IF EXISTS "uploads_expires_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "assets_expires_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "renders_expires_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "preparations_expires_at_idx";
