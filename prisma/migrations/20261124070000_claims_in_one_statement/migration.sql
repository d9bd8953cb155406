-- Claims of deliveries are one statement of packages/db (webhooks/claim-deliveries.ts), not a function.
DROP FUNCTION claim_deliveries, claim_or_end_deliveries, claim_deliveries_in_turn;
DROP TABLE "webhook_claim_cursor";

-- Customers with a pending delivery, each with its deliveries in order.
DROP INDEX "webhook_deliveries_by_receiver_idx";
CREATE INDEX "webhook_deliveries_by_customer_idx" ON "webhook_deliveries"("customer_id", "next_attempt_at", "id") WHERE "status" = 'pending';

-- The condition means the same (webhook_deliveries_schedule_check), but Postgres does not know that. So it never reads
-- this index in place of the one above, which is as short to it after a night in which nothing was pending.
DROP INDEX "webhook_deliveries_due_idx";
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries"("next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;
