-- without transaction
-- Claims look at receivers now.
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_by_origin_idx";
