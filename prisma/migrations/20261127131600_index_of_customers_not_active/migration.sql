-- Every look for due deliveries asks whose have to wait. Few or none do.
CREATE INDEX "customers_not_active_idx" ON "customers" ("id") WHERE "state" <> 'active';
