-- A clip has its own clock, so what an analysis covers is told in seconds. The frames of before stay 0, and stay for the
-- release before, which runs beside this one: the features of both have other names.
ALTER TABLE "features" ADD COLUMN "seconds" DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE "features" ADD CONSTRAINT "features_seconds_check" CHECK (
  "seconds" >= 0 AND ("sha256" IS NOT NULL OR "error_code" IS NOT NULL OR "seconds" = 0)
);
