{{/*
SQL queries that KEDA sends to Postgres, which holds the backlog. Each returns one number that is never NULL.

A running job counts as the share of a pod that it occupies, so that its pod is not removed while others wait. A waiting
job counts only if it may run: a customer at its limit of concurrent GPU jobs cannot use another pod (4 is the service's
default for customers without a limit of their own). But while any job waits there must be at least one pod: without it
the job would fail as unserved, and when the customer falls below its limit, no worker would be there.
*/}}
{{- define "lipsync.backlog.queues" -}}
{{- $quoted := list -}}
{{- range . -}}{{- $quoted = append $quoted (printf "'%s'" .) -}}{{- end -}}
{{- join ", " $quoted -}}
{{- end -}}

{{/* The backlog in units of waiting jobs. Takes queues, jobsPerReplica, slots. */}}
{{- define "lipsync.backlog.depth" -}}
WITH running AS (
  SELECT customer_id, count(*) AS jobs, count(*) FILTER (WHERE queue IN ({{ include "lipsync.backlog.queues" .queues }})) AS here
  FROM jobs WHERE status = 'running' AND kind <> 'ingest' GROUP BY customer_id
), waiting AS (
  SELECT customer_id, count(*) AS jobs
  FROM jobs WHERE status = 'queued' AND available_at <= now() AND queue IN ({{ include "lipsync.backlog.queues" .queues }}) GROUP BY customer_id
)
SELECT GREATEST(
  COALESCE(sum(running.here), 0) * {{ .jobsPerReplica }} / {{ .slots }}
    + COALESCE(sum(LEAST(COALESCE(waiting.jobs, 0), GREATEST(COALESCE(customers.running_jobs_max, 4) - COALESCE(running.jobs, 0), 0))), 0),
  LEAST(COALESCE(sum(waiting.jobs), 0), 1)
)::float8
FROM running FULL JOIN waiting USING (customer_id) JOIN customers ON customers.id = customer_id
{{- end -}}

{{/*
How long, in seconds, the oldest job has waited while a worker for it was present: a pod that is still starting is no
reason to start another. Takes queues.
*/}}
{{- define "lipsync.backlog.age" -}}
WITH served AS (
  SELECT min(started_at) AS since FROM workers
  WHERE seen_at > now() - interval '30 seconds' AND jsonb_exists_any(slots, ARRAY[{{ include "lipsync.backlog.queues" .queues }}])
), running AS (
  SELECT customer_id, count(*) AS jobs FROM jobs WHERE status = 'running' AND kind <> 'ingest' GROUP BY customer_id
)
SELECT COALESCE(EXTRACT(EPOCH FROM now() - min(GREATEST(jobs.available_at, served.since))), 0)::float8
FROM served, jobs JOIN customers ON customers.id = jobs.customer_id LEFT JOIN running ON running.customer_id = jobs.customer_id
WHERE served.since IS NOT NULL AND jobs.status = 'queued' AND jobs.available_at <= now() AND jobs.queue IN ({{ include "lipsync.backlog.queues" .queues }})
  AND COALESCE(running.jobs, 0) < COALESCE(customers.running_jobs_max, 4)
{{- end -}}

{{- define "lipsync.backlog.mediaDepth" -}}
SELECT (count(*) FILTER (WHERE status = 'running') * {{ .jobsPerReplica }} / {{ .slots }}.0 + count(*) FILTER (WHERE status = 'queued' AND available_at <= now()))::float8
FROM jobs WHERE queue = 'media' AND status IN ('queued', 'running')
{{- end -}}

{{- define "lipsync.backlog.mediaAge" -}}
SELECT COALESCE(EXTRACT(EPOCH FROM now() - min(available_at)), 0)::float8
FROM jobs WHERE queue = 'media' AND status = 'queued' AND available_at <= now()
{{- end -}}
