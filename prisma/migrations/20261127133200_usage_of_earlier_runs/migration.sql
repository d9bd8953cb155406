-- Runs that ended before their usage was kept, as far as they are still there. An ended run does not change any more, so
-- the time of its last change is that of its end. It waits for nobody and nobody waits for it.
INSERT INTO "run_usage"
SELECT
  "id", "render_id", "customer_id", "engine", "status", "updated_at",
  ("usage"->>'input_video_seconds')::float8, ("usage"->>'input_audio_seconds')::float8,
  ("usage"->>'output_seconds')::float8, ("usage"->>'rendered_frames')::int,
  ("usage"->>'gpu_inference_seconds')::float8, ("usage"->>'estimated_compute_usd')::float8
FROM "engine_runs" WHERE "status" IN ('completed', 'failed', 'cancelled')
ON CONFLICT DO NOTHING;
