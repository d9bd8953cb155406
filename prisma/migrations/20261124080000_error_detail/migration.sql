-- What customers read about a failure in place of the catalogue's message, where more is known than the code says.
ALTER TABLE "assets" ADD COLUMN "error_detail" TEXT;
ALTER TABLE "engine_runs" ADD COLUMN "error_detail" TEXT;
ALTER TABLE "preparations" ADD COLUMN "error_detail" TEXT;
