-- Every minute each GPU worker asks which of the files that it keeps are still stored for their customers.
CREATE INDEX "assets_contents_idx" ON "assets" ("customer_id", "sha256") WHERE "purged_at" IS NULL AND "sha256" IS NOT NULL;
CREATE INDEX "feature_objects_customer_id_sha256_idx" ON "feature_objects" ("customer_id", "sha256");
