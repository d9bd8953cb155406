-- without transaction
-- As that of renders.
DROP INDEX CONCURRENTLY IF EXISTS "preparations_uncompleted_idx";
CREATE INDEX CONCURRENTLY "preparations_uncompleted_idx" ON "preparations"("created_at") WHERE "completed_at" IS NULL;
