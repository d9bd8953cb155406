-- without transaction
-- Every minute each GPU worker asks which of the files that it keeps are still stored for their customers.
DROP INDEX CONCURRENTLY IF EXISTS "assets_contents_idx";
CREATE INDEX CONCURRENTLY "assets_contents_idx" ON "assets" ("customer_id", "sha256") WHERE "purged_at" IS NULL AND "sha256" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "feature_objects_customer_id_sha256_idx";
CREATE INDEX CONCURRENTLY "feature_objects_customer_id_sha256_idx" ON "feature_objects" ("customer_id", "sha256");
