-- without transaction
-- What is looked through for records that are overdue. Not by status, which statements about one record name beside its
-- id: where statistics know of nothing open, the planner takes an index of what is open for shorter than the primary key.
DROP INDEX CONCURRENTLY IF EXISTS "renders_uncompleted_idx";
CREATE INDEX CONCURRENTLY "renders_uncompleted_idx" ON "renders"("created_at") WHERE "completed_at" IS NULL;
