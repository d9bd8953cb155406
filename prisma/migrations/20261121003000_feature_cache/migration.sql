-- CreateTable
CREATE TABLE "features" (
    "customer_id" TEXT NOT NULL,
    "video_sha256" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sha256" TEXT,
    "error_code" TEXT,
    "frames" INTEGER NOT NULL DEFAULT 0,
    "complete" BOOLEAN NOT NULL DEFAULT false,
    "maker_job_id" TEXT,
    "maker_fence" INTEGER,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "features_pkey" PRIMARY KEY ("customer_id","video_sha256","name")
);

-- CreateTable
CREATE TABLE "feature_objects" (
    "customer_id" TEXT NOT NULL,
    "video_sha256" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "kept_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "feature_objects_pkey" PRIMARY KEY ("customer_id","video_sha256","sha256")
);

-- CreateIndex
CREATE INDEX "features_expires_at_idx" ON "features"("expires_at");

-- CreateIndex
CREATE INDEX "feature_objects_kept_until_idx" ON "feature_objects"("kept_until");

-- A feature has a content, or the reason why there is none, or nothing yet; a maker is one claim of one job.
ALTER TABLE "features" ADD CONSTRAINT "features_content_check" CHECK (
  ("sha256" IS NULL OR "error_code" IS NULL)
  AND ("sha256" IS NOT NULL OR "error_code" IS NOT NULL OR ("frames" = 0 AND NOT "complete"))
  AND "frames" >= 0
);
ALTER TABLE "features" ADD CONSTRAINT "features_maker_check" CHECK (("maker_job_id" IS NULL) = ("maker_fence" IS NULL));

-- A preparation's track is found by the name that its version and its analyser make. What the column pointed at was
-- written in a format that is not read any more; its renders analyse anew.
ALTER TABLE "preparations" DROP COLUMN "track_key";
