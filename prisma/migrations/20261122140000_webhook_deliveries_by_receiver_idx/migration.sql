-- without transaction
-- The receivers (a customer's, at an origin) that something is due for, each with what is due for it in order.
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_by_receiver_idx";
CREATE INDEX CONCURRENTLY "webhook_deliveries_by_receiver_idx" ON "webhook_deliveries"("origin", "customer_id", "next_attempt_at", "id") WHERE "status" = 'pending';
