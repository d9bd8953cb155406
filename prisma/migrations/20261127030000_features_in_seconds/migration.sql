-- A clip has its own clock, so what an analysis covers is told in seconds. Until now there were 25 frames in each.
ALTER TABLE "features" DROP CONSTRAINT "features_content_check";
ALTER TABLE "features"
  ALTER COLUMN "frames" DROP DEFAULT,
  ALTER COLUMN "frames" TYPE DOUBLE PRECISION USING "frames" / 25.0::float8,
  ALTER COLUMN "frames" SET DEFAULT 0;
ALTER TABLE "features" RENAME COLUMN "frames" TO "seconds";
ALTER TABLE "features" ADD CONSTRAINT "features_content_check" CHECK (
  ("sha256" IS NULL OR "error_code" IS NULL)
  AND ("sha256" IS NOT NULL OR "error_code" IS NOT NULL OR ("seconds" = 0 AND NOT "complete"))
  AND "seconds" >= 0
);
