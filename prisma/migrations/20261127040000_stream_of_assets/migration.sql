-- What the ingest found out about the stream that renders use; null for assets from before.
ALTER TABLE "assets" ADD COLUMN "stream" JSONB;
